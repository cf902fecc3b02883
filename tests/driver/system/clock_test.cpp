#include "driver/system/clock.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gaussweep::driver {
namespace {

TEST(Clock, ReadsATimeOfDay) {
  EXPECT_EQ(parse_time("2026-03-01T00:00:00Z"), 1772323200);
  EXPECT_EQ(parse_time("1970-01-01T00:00:01Z"), 1);
  for (const char* text :
       {"", "2026-03-01", "2026-03-01T00:00:00", "2026-03-01T00:00:00+01:00", "yesterday"}) {
    EXPECT_TRUE(std::isnan(parse_time(text))) << text;
  }
}

}  // namespace
}  // namespace gaussweep::driver
