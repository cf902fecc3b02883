// Tests the estimate of a run time before and after similar trials were measured.

#include "driver/plan/cost_model.hpp"
#include "driver/plan/trial.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

Trial host_trial(std::int64_t n) {
  Trial trial;
  trial.problem = Problem::named("gesv");
  trial.method = "lapack";
  trial.backend = Backend::host;
  trial.shape = {n, n, n, 1, Uplo::lower};
  trial.sampling.min_samples = trial.sampling.max_samples = 1;
  trial.sampling.warmup = 0;
  return trial;
}

io::Record host_record(std::int64_t n, double flops) {
  io::Record record;
  record.problem = "gesv";
  record.method = "lapack";
  record.precision = "double";
  record.backend = "host";
  record.n = n;
  record.flops = flops;
  return record;
}

class LearnedCosts : public testing::Test {
 protected:
  const Registry registry = builtin_registry();
  CostModel model{registry};
};

TEST_F(LearnedCosts, GrowsWithSizeBeforeAnyMeasurement) {
  EXPECT_GT(model.run_seconds(host_trial(2000)), 6 * model.run_seconds(host_trial(1000)));
}

TEST_F(LearnedCosts, ExpectsManyIterationsUpToTheLimit) {
  Trial trial = host_trial(100);
  trial.problem = Problem::named("poinv");
  trial.method = "gauss_seidel";
  trial.backend = Backend::emulated;
  const auto seconds = [&](std::int64_t most) {
    trial.parameters.set("max_iterations", most);
    return model.run_seconds(trial);
  };
  EXPECT_NEAR(seconds(3), 3 * seconds(1), 1e-9);
  EXPECT_GT(seconds(1000), 5 * seconds(1));
}

TEST_F(LearnedCosts, UsesTheSlowestDevice) {
  Trial trial = host_trial(2048);
  trial.method = "gauss_jordan_shared";
  trial.backend = Backend::cuda;
  const double unknown = model.run_seconds(trial);
  io::DeviceRow device;
  device.gemm_flops_double = 4e13;
  model.learn(device);
  EXPECT_NEAR(model.run_seconds(trial), unknown / 8, 1e-9 * unknown) << "a thousandth of 4e13 instead of 5e9";
  device.gemm_flops_double = 2e13;
  model.learn(device);
  EXPECT_NEAR(model.run_seconds(trial), unknown / 4, 1e-9 * unknown);
  device.gemm_flops_double = io::Record::unknown;
  model.learn(device);
  EXPECT_NEAR(model.run_seconds(trial), unknown / 4, 1e-9 * unknown);
  trial.precision = Precision::float32;
  EXPECT_EQ(model.run_seconds(trial), unknown) << "float is unknown";
}

TEST_F(LearnedCosts, GuessesTheVendorFromGemmRateAndOrder) {
  const auto rate = [&](std::int64_t n) {
    Trial trial = host_trial(n);
    trial.method = "cusolver";
    trial.backend = Backend::cuda;
    const Method* method = registry.find(trial.problem, trial.method);
    return trial_flops(*method, trial.shape, trial.parameters) / model.run_seconds(trial);
  };
  if (registry.find(Problem::named("gesv"), "cusolver") == nullptr) GTEST_SKIP() << "a build without CUDA";
  EXPECT_NEAR(rate(2048), 1e12, 1) << "an unknown device";
  io::DeviceRow device;
  device.gemm_flops_double = 6e13;
  model.learn(device);
  EXPECT_NEAR(rate(32768), 6e12, 10);
  EXPECT_NEAR(rate(4096), 1.5e12, 10);
  EXPECT_NEAR(rate(64), 6e10, 1);
}

TEST_F(LearnedCosts, GuessesTheVendorsRateForOptimisedMethods) {
  const auto rate = [&](const char* problem, const char* variant) {
    Trial trial = host_trial(16384);
    trial.problem = Problem::named(problem);
    trial.method = variant;
    trial.backend = Backend::cuda;
    const Method* method = registry.find(trial.problem, trial.method);
    return trial_flops(*method, trial.shape, trial.parameters) / model.run_seconds(trial);
  };
  EXPECT_NEAR(rate("geinv", "recursive"), 1e12, 1) << "for compute capability 9.0";
  EXPECT_NEAR(rate("gemm", "residues"), 1e12, 1) << "for compute capability 8.0";
  EXPECT_NEAR(rate("trtri", "levels"), 1e12, 1) << "gaussweep's, for any GPU";
  EXPECT_NEAR(rate("trtri", "gets"), 5e9, 1) << "from a paper of 2011";
  io::DeviceRow device;
  device.gemm_flops_double = 6e13;
  model.learn(device);
  EXPECT_NEAR(rate("geinv", "recursive"), 6e12, 10);
  EXPECT_NEAR(rate("trtri", "gets"), 6e10, 1);
}

TEST_F(LearnedCosts, EstimatesAtMostTheTimeout) {
  Trial trial = host_trial(100'000);
  trial.timeout_seconds = 1e9;
  const double unlimited = model.estimate(trial);
  ASSERT_GT(unlimited, 90);
  trial.timeout_seconds = 90;
  EXPECT_EQ(model.estimate(trial), 90);
}

TEST_F(LearnedCosts, UsesTheRateOfTheNearestSize) {
  io::Record record = host_record(1000, 1e9);
  record.seconds_median = 2;  // 5e8 flop/s
  model.learn(record);
  const double flops = problem_flops(Problem::named("gesv"), host_trial(1000).shape);
  EXPECT_NEAR(model.run_seconds(host_trial(1000)), flops / 5e8, 1e-9);
  record.n = 4000;
  record.seconds_median = 0.1;  // 1e10 flop/s
  model.learn(record);
  EXPECT_NEAR(model.run_seconds(host_trial(1000)), flops / 5e8, 1e-9);
  const double large = problem_flops(Problem::named("gesv"), host_trial(5000).shape);
  EXPECT_NEAR(model.run_seconds(host_trial(5000)), large / 1e10, 1e-6);
}

TEST_F(LearnedCosts, UsesTheSlowestRateOfTheNearestSizes) {
  io::Record record = host_record(1, 1e9);
  const auto learn = [&](std::int64_t n, double rate) {
    record.n = n;
    record.seconds_median = record.flops / rate;
    model.learn(record);
  };
  const auto rate_at = [&](std::int64_t n) {
    return problem_flops(Problem::named("gesv"), host_trial(n).shape) / model.run_seconds(host_trial(n));
  };
  learn(100, 3e9);
  learn(100, 1e9);
  learn(100, 2e9);
  EXPECT_NEAR(rate_at(100) / 1e9, 1, 1e-9) << "the slowest rate of one size";
  learn(400, 5e8);
  EXPECT_NEAR(rate_at(200) / 5e8, 1, 1e-9) << "equal ratios to both sizes: the slower rate";
  EXPECT_NEAR(rate_at(199) / 1e9, 1, 1e-9);
  EXPECT_NEAR(rate_at(201) / 5e8, 1, 1e-9);
  EXPECT_NEAR(rate_at(1) / 1e9, 1, 1e-9);
  EXPECT_NEAR(rate_at(10000) / 5e8, 1, 1e-9);
}

/// A sweep of an hour was once estimated to take days. An unmeasured method was assumed to have a thousandth
/// of DGEMM's rate, even if all related methods were near DGEMM's rate.
TEST_F(LearnedCosts, GuessesUnseenMethodsBetweenRelatedOnesAndTheFirstGuess) {
  Trial trial = host_trial(1000);
  trial.method = "gauss_pivot_serial";
  const double flops = problem_flops(Problem::named("gesv"), trial.shape);
  const double guess = model.run_seconds(trial);
  io::Record record = host_record(1000, flops);
  record.seconds_median = guess / 400;
  model.learn(record);
  EXPECT_EQ(model.run_seconds(trial), guess) << "the vendor's rate is not used for ours";
  record.method = "crout";
  model.learn(record);
  EXPECT_NEAR(model.run_seconds(trial), guess / 20, 1e-9 * guess);
  record.method = "gauss_pivot_serial";
  record.precision = "float";
  record.seconds_median = guess / 7;
  model.learn(record);
  EXPECT_NEAR(model.run_seconds(trial), guess / 7, 1e-9 * guess) << "the same in the other precision";
}

TEST_F(LearnedCosts, DoesNotUseAPapersRateForOptimisedMethods) {
  Trial trial = host_trial(1024);
  trial.problem = Problem::named("trtri");
  trial.method = "levels";
  trial.backend = Backend::cuda;
  const double guess = model.run_seconds(trial);
  io::Record record = host_record(1024, 1e9);
  record.problem = "trtri";
  record.method = "gets";  // from a paper of 2011
  record.backend = "cuda";
  record.seconds_median = 10;
  model.learn(record);
  EXPECT_EQ(model.run_seconds(trial), guess);
}

TEST_F(LearnedCosts, IgnoresRecordsWithoutATime) {
  const double before = model.run_seconds(host_trial(100));
  model.learn(host_record(100, 1e6));
  EXPECT_EQ(model.run_seconds(host_trial(100)), before);
}

}  // namespace
}  // namespace gaussweep::driver
