#include "driver/plan/demand.hpp"

#include <gtest/gtest.h>

namespace gaussweep::driver {
namespace {

TEST(Fit, MemoryThatOthersHoldIsNoPropertyOfTheTrial) {
  EXPECT_EQ(fit_of(10, 10, 100), Fit::fits);
  EXPECT_EQ(fit_of(11, 10, 100), Fit::not_now) << "it would fit if the GPU were its own";
  EXPECT_EQ(fit_of(90, 10, 100), Fit::not_now);
  EXPECT_EQ(fit_of(91, 10, 100), Fit::never) << "a tenth is what the driver and its libraries take";
  EXPECT_EQ(fit_of(95, 96, 100), Fit::fits) << "what is free says more than the rule";
}

}  // namespace
}  // namespace gaussweep::driver
