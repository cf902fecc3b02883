#include "driver/plan/trial.hpp"

#include <gtest/gtest.h>

namespace gaussweep::driver {
namespace {

TEST(AsExpected, DefaultsToPassAndNeverMindsSkipped) {
  Trial trial;
  trial.problem = Problem::named("gesv");
  EXPECT_TRUE(as_expected(trial, "pass"));
  EXPECT_FALSE(as_expected(trial, "suspect"));
  EXPECT_FALSE(as_expected(trial, "crashed"));
  EXPECT_TRUE(as_expected(trial, "skipped"));
  trial.expect = {"failed", "suspect"};
  EXPECT_TRUE(as_expected(trial, "failed"));
  EXPECT_FALSE(as_expected(trial, "pass"));
}

}  // namespace
}  // namespace gaussweep::driver
