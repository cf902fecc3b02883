#include "driver/judge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "driver/trial.hpp"

namespace gaussweep::driver {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Judge, ToleranceAndTenTimesItAreTheBorders) {
  EXPECT_EQ(judge(0, 16, 0), "pass");
  EXPECT_EQ(judge(16, 16, 0), "pass");
  EXPECT_EQ(judge(std::nextafter(16, 17), 16, 0), "suspect");
  EXPECT_EQ(judge(160, 16, 0), "suspect");
  EXPECT_EQ(judge(std::nextafter(160, 161), 16, 0), "failed");
}

TEST(Judge, NaNAndInfinityAlwaysFail) {
  EXPECT_EQ(judge(nan, 16, 0), "failed");
  EXPECT_EQ(judge(inf, 16, 0), "failed");
  EXPECT_EQ(judge(-inf, 16, 0), "pass") << "not a residual that check() can give";
  EXPECT_EQ(judge(inf, 1e300, 0), "failed");
  EXPECT_EQ(judge(1e308, 1e308, 0), "pass");
}

TEST(Judge, NegativeInfoIsAnErrorWhateverTheAnswer) {
  EXPECT_EQ(judge(0.1, 16, -3), "error");
  EXPECT_EQ(judge(nan, 16, -1), "error");
}

TEST(Judge, AZeroPivotDecidesNothingByItself) {
  EXPECT_EQ(judge(0.1, 30, 2), "pass");
  EXPECT_EQ(judge(inf, 30, 2), "failed");
}

TEST(Judge, DivergenceCountsOnlyWhereTheAnswerIsNoPass) {
  EXPECT_EQ(judge(0.1, 16, 0, Convergence::diverged), "pass");
  EXPECT_EQ(judge(20, 16, 0, Convergence::diverged), "diverged");
  EXPECT_EQ(judge(nan, 16, 0, Convergence::diverged), "diverged");
  EXPECT_EQ(judge(20, 16, 0, Convergence::max_iterations), "suspect");
}

TEST(Judge, AToleranceMustBeAPositiveNumber) {
  EXPECT_THROW(judge(1, 0, 0), std::invalid_argument);
  EXPECT_THROW(judge(1, -1, 0), std::invalid_argument);
  EXPECT_THROW(judge(1, nan, 0), std::invalid_argument);
  EXPECT_THROW(judge(1, inf, 0), std::invalid_argument);
}

TEST(Judge, EveryStatusIsJudgedOrBrokenOrSkipped) {
  for (const std::string status : trial_statuses) {
    EXPECT_EQ(is_judged(status) + is_broken(status) + (status == "skipped"), 1) << status;
  }
}

TEST(Judge, WhatIsNoPassIsToldInWords) {
  io::Record r;
  r.status = "failed";
  r.residual_ratio = 1e6;
  r.tolerance = 16;
  EXPECT_EQ(finding_words(r), "residual ratio 1e+06, tolerance 16");
  r.info = 3;
  EXPECT_EQ(finding_words(r), "zero or non-positive pivot 3; residual ratio 1e+06, tolerance 16");
  for (const double ratio : {inf, nan}) {
    r.residual_ratio = ratio;
    EXPECT_EQ(finding_words(r), "zero or non-positive pivot 3; the answer holds NaN or Inf");
  }
  r.info = -1;
  EXPECT_EQ(finding_words(r), "the method gave up (info -1)");
  r.status = "pass";
  EXPECT_EQ(finding_words(r), "");
}

}  // namespace
}  // namespace gaussweep::driver
