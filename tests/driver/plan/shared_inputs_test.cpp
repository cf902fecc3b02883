// Tests when two trials share their inputs, and when they share the time of the vendor's method.

#include "driver/plan/trial.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

Trial trial_of(Problem problem) {
  Trial trial;
  trial.problem = problem;
  trial.matrix.digest = "d";
  trial.shape.m = trial.shape.n = trial.shape.k = 4;
  trial.shape.nrhs = 1;
  return trial;
}

// A worker keeps its inputs for the next trial if both trials have the same identity.
TEST(InputsIdentity, DiffersForOtherOperandsOfTheSameMatrix) {
  std::map<std::string, std::string> of;
  std::set<std::string> different;
  for (const Problem problem : {Problem::named("gesv"), Problem::named("getrf"), Problem::named("trsv"),
                                Problem::named("trtri"), Problem::named("gemm")}) {
    different.insert(of[problem->name] = inputs_identity(trial_of(problem)));
  }
  EXPECT_EQ(different.size(), of.size());
}

TEST(InputsIdentity, IsSharedByProblemsThatTakeOnlyTheMatrix) {
  const std::string matrix_only = inputs_identity(trial_of(Problem::named("getrf")));
  for (const Problem problem : {Problem::named("potrf"), Problem::named("geinv"), Problem::named("poinv")}) {
    EXPECT_EQ(inputs_identity(trial_of(problem)), matrix_only);
  }
}

TEST(InputsIdentity, DependsOnSizesPrecisionAndTriangle) {
  const Trial solve = trial_of(Problem::named("trsv"));
  Trial other = solve;
  other.shape.uplo = solve.shape.uplo == Uplo::lower ? Uplo::upper : Uplo::lower;
  EXPECT_NE(inputs_identity(other), inputs_identity(solve));
  other = solve;
  other.shape.nrhs = 2;
  EXPECT_NE(inputs_identity(other), inputs_identity(solve));
  other = solve;
  other.precision = Precision::float32;
  EXPECT_NE(inputs_identity(other), inputs_identity(solve));
}

// One run of the vendor method serves as reference for all later trials on the same inputs.
TEST(ComparisonIdentity, DependsOnTriangleCachesAndInputsButNotOnTheMethod) {
  const Registry registry = builtin_registry();
  const Problem potrf = Problem::named("potrf");
  const Method& vendor = *registry.find(potrf, "lapack");
  const Trial trial = trial_of(potrf);
  const auto differs = [&](const Trial& other) {
    return comparison_identity(other, vendor) != comparison_identity(trial, vendor);
  };
  Trial other = trial;
  other.method = "blocked_simultaneous";
  EXPECT_FALSE(differs(other));
  other.shape.uplo = trial.shape.uplo == Uplo::lower ? Uplo::upper : Uplo::lower;
  EXPECT_TRUE(differs(other)) << "the vendor factors one triangle";
  other = trial;
  other.sampling.cold = true;
  EXPECT_TRUE(differs(other));
  other = trial;
  other.matrix.digest = "e";
  EXPECT_TRUE(differs(other));
  EXPECT_NE(comparison_identity(trial, *registry.find(potrf, "cusolver")),
            comparison_identity(trial, vendor));
}

}  // namespace
}  // namespace gaussweep::driver
