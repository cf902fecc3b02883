// Tests the formats of a time limit.

#include "driver/plan/time_limit.hpp"
#include "driver/base/errors.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(TimeLimit, ParsesDurationsAndSlurmFormats) {
  EXPECT_EQ(parse_time_limit("90"), 90);
  EXPECT_EQ(parse_time_limit("10min"), 600);
  EXPECT_EQ(parse_time_limit("1h30min"), 5400);
  EXPECT_EQ(parse_time_limit("02:30"), 150);
  EXPECT_EQ(parse_time_limit("01:00:05"), 3605);
  EXPECT_EQ(parse_time_limit("1-02:00:00"), 86400 + 7200);
  EXPECT_THROW(parse_time_limit("soon"), UsageError);
  EXPECT_THROW(parse_time_limit(""), UsageError);
}

}  // namespace
}  // namespace gaussweep::driver
