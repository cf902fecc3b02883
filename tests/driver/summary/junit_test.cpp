// Tests the JUnit report of a run.

#include "driver/summary/junit.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

std::string junit_of(const std::vector<io::Record>& records) {
  std::string text;
  write_junit(records, [&text](const std::string& part) { text += part; });
  return text;
}

TEST(Junit, DistinguishesFailuresErrorsAndExpectedFailures) {
  std::vector<io::Record> records;
  for (const char* status : {"pass", "failed", "crashed", "failed", "skipped"}) {
    records.push_back(example_record("lapack", 64 << records.size(), {1e-3}));
    records.back().status = status;
    records.back().expected = records.size() == 1 || records.size() == 4;
  }
  records[2].message = "signal 11 in <solve> & \"more\"";
  const std::string text = junit_of(records);
  EXPECT_THAT(
      text,
      HasSubstr("<testsuite name=\"gesv/lapack\" tests=\"5\" failures=\"1\" errors=\"1\" skipped=\"2\">"));
  EXPECT_THAT(text,
              HasSubstr("<error message=\"crashed: signal 11 in &lt;solve&gt; &amp; &quot;more&quot;\"/>"));
  EXPECT_THAT(text, HasSubstr("time=\"0.001\"/>\n"));
}

}  // namespace
}  // namespace gaussweep::driver
