// Tests the keys of trials, their messages to workers and their descriptions.

#include "driver/plan/trial.hpp"

#include "driver/plan/plan_names.hpp"
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
  set_digest(trial.matrix, trial.precision, nrhs);
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

TEST(Trial, SendsAllParametersOfTheMatrix) {
  for (const std::string& kind : enum_names<MatrixKind>()) {
    Trial trial = solve(3, 1);
    MatrixSpec& spec = trial.matrix.spec;
    trial.matrix.kind = kind;
    spec.kind = *from_string<MatrixKind>(kind);
    spec.low = -2, spec.high = 3, spec.value = 4;
    spec.dominant = false, spec.condition = 1e5, spec.mode = 2;
    spec.s = 5, spec.lambda = 0.5;
    spec.uplo = Uplo::upper, spec.batch = 6;
    const MatrixRequest sent = nlohmann::json(trial).get<Trial>().matrix;
    EXPECT_EQ(sent.spec.canonical(trial.precision), spec.canonical(trial.precision));
    EXPECT_EQ(matrix_parameters_text(sent, {}), matrix_parameters_text(trial.matrix, {}));
  }
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
