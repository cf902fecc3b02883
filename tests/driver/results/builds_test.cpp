// Tests the warning that records come from several builds.

#include "driver/results/loading.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(Builds, AreNamedIfThereAreTwo) {
  std::vector<io::Record> records = {example_record("a", 1, {1}), example_record("b", 2, {1})};
  for (io::Record& record : records) record.commit = "abc";
  EXPECT_EQ(mixed_builds(records), "");
  EXPECT_EQ(mixed_builds(records, "abc"), "");
  EXPECT_EQ(mixed_builds({}, "abc"), "");
  EXPECT_EQ(mixed_builds(records, "def"),
            "the records are from 2 builds: commit abc (2), commit def (this one)");
  records[1].commit = "def";
  EXPECT_EQ(mixed_builds(records, "def"), "the records are from 2 builds: commit abc (1), commit def (1)");
  records[1].status = "skipped";
  EXPECT_EQ(mixed_builds(records), "") << "a skipped record does not count";
  records[1].commit = "";
  records[1].status = "pass";
  EXPECT_EQ(mixed_builds(records), "") << "an unknown build is not another build";
  records[0].library = records[1].library = "mine.so";
  records[0].library_digest = records[1].library_digest = "1a";
  EXPECT_EQ(mixed_builds(records), "");
  records[1].library_digest = "2b";
  EXPECT_EQ(mixed_builds(records), "library mine.so has 2 versions: 1a (1), 2b (1)");
}

}  // namespace
}  // namespace gaussweep::driver
