#include "driver/base/words.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gaussweep::driver {
namespace {

TEST(Words, SecondsInTheUnitThatPeopleRead) {
  EXPECT_EQ(seconds_text(12.3456), "12.35 s");
  EXPECT_EQ(seconds_text(0.9999), "0.9999 s");
  EXPECT_EQ(seconds_text(0.01), "10 ms");
  EXPECT_EQ(seconds_text(0.00099999), "1 ms");
  EXPECT_EQ(seconds_text(4.56e-5), "45.6 us");
  EXPECT_EQ(seconds_text(7e-9), "7 ns");
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(seconds_text(std::nan("")), "");
}

TEST(Words, SettingsAreWrittenShort) {
  EXPECT_EQ(settings_text(R"({"blocks":3,"order":"rows","omega":1.5})"), "blocks=3 order=rows omega=1.5");
  EXPECT_EQ(settings_text("{}"), "");
  EXPECT_EQ(settings_text("torn{"), "torn{");
}

TEST(Words, DurationsAsPeopleSayThem) {
  EXPECT_EQ(duration_words(0.4), "0 s");
  EXPECT_EQ(duration_words(59.6), "1 min 00 s");
  EXPECT_EQ(duration_words(3725), "1 h 02 min");
  EXPECT_EQ(duration_words(-5), "0 s");
}

}  // namespace
}  // namespace gaussweep::driver
