// Tests time stamps.

#include "driver/system/clock.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(Clock, ParsesTimeStamps) {
  EXPECT_EQ(parse_time("2026-03-01T00:00:00Z"), 1772323200);
  EXPECT_EQ(parse_time("1970-01-01T00:00:01Z"), 1);
  EXPECT_DOUBLE_EQ(parse_time("1970-01-01T00:00:01.250000Z"), 1.25);
  for (const char* text : {"1970-01-01T00:00:01.Z", "1970-01-01T00:00:01.2", "", "2026-03-01",
                           "2026-03-01T00:00:00", "2026-03-01T00:00:00+01:00", "yesterday"}) {
    EXPECT_TRUE(std::isnan(parse_time(text))) << text;
  }
}

TEST(Clock, FineTimeStampKeepsItsFraction) {
  const std::string fine = fine_time_stamp();
  EXPECT_EQ(fine.size(), std::string("2026-03-01T12:00:00.250000Z").size()) << fine;
  EXPECT_NEAR(parse_time(fine), epoch_seconds(), 60);
}

TEST(Clock, BothTimeStampsAgreeOnTheSecond) {
  const double second = std::floor(epoch_seconds()) + 1;
  wait_seconds(second - 0.002 - epoch_seconds());
  do {
    const std::string fine = fine_time_stamp(), after = time_stamp();
    ASSERT_LE(fine.substr(0, 19), after.substr(0, 19)) << fine;
  } while (epoch_seconds() < second + 0.002);
}

}  // namespace
}  // namespace gaussweep::driver
