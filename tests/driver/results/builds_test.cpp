#include "driver/results/loading.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(Builds, AreNamedIfThereAreTwo) {
  std::vector<io::Record> records = {example_record("a", 1, {1}), example_record("b", 2, {1})};
  EXPECT_EQ(mixed_builds(records), "");
  EXPECT_EQ(mixed_builds(records, "abc"), "");
  EXPECT_EQ(mixed_builds({}, "abc"), "");
  EXPECT_EQ(mixed_builds(records, "def"),
            "the records are from 2 builds: commit abc (2), commit def (this one)");
  records[1].commit = "def";
  EXPECT_EQ(mixed_builds(records, "def"), "the records are from 2 builds: commit abc (1), commit def (1)");
  records[1].status = "skipped";
  EXPECT_EQ(mixed_builds(records), "") << "no record is from that build";
  records[1].commit = "";
  records[1].status = "pass";
  EXPECT_EQ(mixed_builds(records), "") << "an unknown build is not another build";
}

}  // namespace
}  // namespace gaussweep::driver
