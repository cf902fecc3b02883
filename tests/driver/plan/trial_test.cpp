#include "driver/plan/trial.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(AsExpected, DefaultsToPassAndAcceptsSkipped) {
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

Trial solve(std::uint64_t seed, std::int64_t nrhs) {
  Trial trial;
  trial.problem = Problem::named("gesv");
  trial.method = "lapack";
  trial.shape = {64, 64, 64, nrhs, Uplo::lower};
  trial.matrix.kind = "uniform";
  trial.matrix.spec.rows = trial.matrix.spec.cols = 64;
  trial.matrix.spec.seed = seed;
  finish_request(trial.matrix, trial.precision, nrhs);
  return trial;
}

TEST(TrialKey, EqualsThatOfOlderVersions) {
  Trial trial = solve(1, 1);
  EXPECT_EQ(trial_key(trial), "5eb402116c3737a300ce4238779a9087") << "the key of 0.1.0, which --resume uses";
  trial = solve(7, 3);
  trial.sampling = {3, 200, 0.02, 1, true, 1, 1, true};
  trial.inner_repeats = 4;
  trial.pinned = true;
  trial.energy_seconds = 2;
  EXPECT_EQ(trial_key(trial), "429f143ac26276e2094f96a1ff182683");
  trial.round = 2;
  EXPECT_EQ(trial_key(trial), "f5d19109247e579aa9c76c113804876f");
}

TEST(Trial, SendsTheNumberOfGpusThatWork) {
  Trial trial = solve(1, 1);
  EXPECT_EQ(nlohmann::json(trial).get<Trial>().gpus, 1);
  trial.parameters.set("gpus", std::int64_t{4});  // allowed, but the matrix stays on fewer
  EXPECT_EQ(nlohmann::json(trial).get<Trial>().gpus, 1);
  trial.gpus = 4;
  EXPECT_EQ(nlohmann::json(trial).get<Trial>().gpus, 4);
}

TEST(Trial, DescribesPinnedMemory) {
  Trial trial = solve(1, 1);
  EXPECT_EQ(describe(trial).find("pinned"), std::string::npos);
  trial.pinned = true;
  EXPECT_TRUE(nlohmann::json(trial).get<Trial>().pinned);
  EXPECT_NE(describe(trial).find(" pinned"), std::string::npos);
}

}  // namespace
}  // namespace gaussweep::driver
