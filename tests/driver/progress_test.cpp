#include "driver/progress.hpp"

#include <gtest/gtest.h>

namespace gaussweep::driver {
namespace {

TEST(Progress, WhatThePlanExpectsIsNoFailure) {
  testing::internal::CaptureStderr();
  Progress progress(6, 1);
  for (const char* status : {"pass", "failed", "crashed"}) progress.count(status, true);
  progress.finish();
  const std::string expected = testing::internal::GetCapturedStderr();
  EXPECT_EQ(expected, "4/6 trials (67 %)\n");

  testing::internal::CaptureStderr();
  progress.count("suspect", false);
  progress.count("timeout", false);
  progress.finish();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "6/6 trials (100 %), 1 wrong, 1 broken\n");
}

TEST(Progress, DurationsAsPeopleSayThem) {
  EXPECT_EQ(duration_words(0.4), "0 s");
  EXPECT_EQ(duration_words(59.6), "1 min 00 s");
  EXPECT_EQ(duration_words(3725), "1 h 02 min");
  EXPECT_EQ(duration_words(-5), "0 s");
}

}  // namespace
}  // namespace gaussweep::driver
