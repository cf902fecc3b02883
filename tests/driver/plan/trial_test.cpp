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

TEST(TrialJson, PinnedStandsThereOnlyWhereItIs) {
  Trial trial;
  trial.problem = Problem::named("gesv");
  trial.method = "lapack";
  trial.matrix.kind = "uniform";
  EXPECT_FALSE(to_json(trial).contains("pinned")) << "keys of older journals hold";
  EXPECT_EQ(describe(trial).find("pinned"), std::string::npos);
  trial.pinned = true;
  EXPECT_TRUE(trial_from_json(to_json(trial)).pinned);
  EXPECT_NE(describe(trial).find(" pinned"), std::string::npos);
}

}  // namespace
}  // namespace gaussweep::driver
