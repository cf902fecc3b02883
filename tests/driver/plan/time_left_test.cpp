// Tests the estimate of the remaining time of a sweep.

#include "driver/plan/time_left.hpp"

#include <fmt/format.h>

#include "driver/plan/trial.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

constexpr double sweep_start = 1.7e9;  // start of the sweep, on the clock of the records

struct FinishedTrial {
  Trial trial;
  io::Record record;
  double seconds;
};

Trial gesv_trial(const char* method, std::int64_t n) {
  Trial trial;
  trial.problem = Problem::named("gesv");
  trial.method = method;
  trial.backend = Backend::cuda;
  trial.shape = {n, n, n, 1, Uplo::lower};
  trial.sampling.min_samples = trial.sampling.max_samples = 5;
  trial.sampling.warmup = 1;
  trial.stages = Stages::never;
  trial.timeout_seconds = 1e6;
  return trial;
}

std::string time_text(double seconds) {
  const auto whole = static_cast<std::time_t>(seconds);
  char text[32];
  std::tm parts{};
  gmtime_r(&whole, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return text + fmt::format(".{:06.0f}Z", 1e6 * (seconds - static_cast<double>(whole)));
}

/// Returns a finished trial that began at `began`: six runs of `run` seconds, and `other_seconds` of other
/// work.
FinishedTrial finished(const Registry& registry, const Trial& trial, double began, double run,
                       double other_seconds) {
  FinishedTrial one{trial, {}, 6 * run + other_seconds};
  io::Record& r = one.record;
  r.problem = trial.problem->name;
  r.method = trial.method;
  r.precision = "double";
  r.backend = "cuda";
  r.n = trial.shape.n;
  r.flops = trial_flops(*registry.find(trial.problem, trial.method), trial.shape, trial.parameters);
  r.seconds_median = run;
  r.warmup = 1;
  r.samples = 5;
  r.prepare_began = began;
  r.end_time = time_text(began + one.seconds);
  return one;
}

/// Simulates a sweep by one rank, matrix by matrix, the largest first, in the queue's order. Run times are a
/// constant plus terms in n^2 and n^3, which the estimate does not know; methods are 1 to 200 times as slow.
std::vector<FinishedTrial> simulated_sweep(const Registry& registry) {
  std::vector<FinishedTrial> all;
  double now = sweep_start;
  for (const std::int64_t n : {16384, 8192, 4096, 2048, 1024, 512, 256}) {
    double slowness = 1;
    for (const char* method : {"cusolver", "gauss_jordan_shared", "gauss_block", "gauss_pivot_serial"}) {
      for (int matrix = 0; matrix < 3; ++matrix) {
        const double x = static_cast<double>(n), run = 1e-4 + slowness * (2e-10 * x * x + 2e-13 * x * x * x);
        all.push_back(finished(registry, gesv_trial(method, n), now, run, 0.02 + 3e-9 * x * x));
        now += all.back().seconds * 1.02;  // a rank also waits for 2 % of the time
      }
      slowness *= 6;
    }
  }
  return all;
}

class LearnedTimes : public testing::Test {
 protected:
  const Registry registry = builtin_registry();
  CostModel model{registry};
};

TEST_F(LearnedTimes, IsAccurateDuringTheWholeSweep) {
  const std::vector<FinishedTrial> all = simulated_sweep(registry);
  std::vector<Trial> trials;
  double total = 0;
  for (const FinishedTrial& one : all) {
    trials.push_back(one.trial);
    total += 1.02 * one.seconds;
  }
  TimeLeft left(model, registry, trials);
  EXPECT_FALSE(left.seconds(1)) << "nothing is known yet";
  double elapsed = 0;
  std::vector<double> shares{0.9, 0.75, 0.5, 0.25, 0.1};
  for (std::size_t i = 0; i < all.size(); ++i) {
    model.learn(all[i].record);
    left.done(i, all[i].record);
    elapsed += 1.02 * all[i].seconds;
    const double share = static_cast<double>(i + 1) / static_cast<double>(all.size()),
                 truth = total - elapsed;
    if (shares.empty() || share < shares.back()) continue;
    shares.pop_back();
    const std::optional<TimeRange> seconds = left.seconds(1);
    EXPECT_TRUE(seconds || share < 0.5) << share << ": early on the range may be too wide to tell anything";
    if (!seconds) continue;
    EXPECT_LT(seconds->low, truth) << share;
    EXPECT_GT(seconds->high, truth) << share;
    EXPECT_LT(std::abs(std::log(seconds->likely / truth)), std::log(1.6)) << share;
  }
  EXPECT_TRUE(shares.empty());
}

TEST_F(LearnedTimes, RanksShareTheTrialsButNotOneTrial) {
  const std::vector<Trial> trials(4, gesv_trial("cusolver", 1024));
  model.learn(finished(registry, trials[0], sweep_start, 1, 4).record);
  const TimeLeft left(model, registry, trials);
  EXPECT_NEAR(left.seconds(1)->likely, 40, 1e-3);
  EXPECT_NEAR(left.seconds(2)->likely, 20, 1e-3);
  EXPECT_NEAR(left.seconds(8)->likely, 10, 1e-3) << "a trial is not split between ranks";
  EXPECT_NEAR(left.seconds(2, 10)->likely, 15, 1e-3) << "for running trials";
  EXPECT_TRUE(left.seconds(2, 1e6)->rounds_to_zero())
      << "the running trials have taken longer than estimated";
}

TEST_F(LearnedTimes, LeavesTheTimeLeftOpenUntilATrialOfEachMethodHasEnded) {
  const std::vector<Trial> trials{gesv_trial("cusolver", 1024), gesv_trial("gauss_block", 1024)};
  const TimeLeft left(model, registry, trials);
  model.learn(finished(registry, trials[0], sweep_start, 0.1, 0).record);
  EXPECT_TRUE(model.expected(trials[1]));
  io::Record ended = finished(registry, trials[1], sweep_start, 0.1, 0).record;
  ended.seconds_median = io::Record::unknown;
  for (const auto& [status, is_known] : {std::pair("skipped", false), {"crashed", true}}) {
    ended.status = status;
    model.learn(ended);
    EXPECT_EQ(left.seconds(1).has_value(), is_known) << status;
  }
}

TEST_F(LearnedTimes, IsARangeForUnseenMethodsAndUnknownForUnseenBackends) {
  model.learn(finished(registry, gesv_trial("cusolver", 1024), sweep_start, 0.1, 0).record);
  model.learn(finished(registry, gesv_trial("gauss_block", 1024), sweep_start, 0.3, 0).record);
  Trial other = gesv_trial("gauss_jordan_shared", 1024);
  const std::optional<TimeRange> span = model.expected(other);
  ASSERT_TRUE(span);
  EXPECT_LT(span->low, 0.6);
  EXPECT_GT(span->high, 1.8);
  EXPECT_LT(span->low, span->likely);
  EXPECT_LT(span->likely, span->high);
  other.backend = Backend::host;
  EXPECT_FALSE(model.expected(other));
}

TEST_F(LearnedTimes, IsAtMostTheTimeout) {
  Trial trial = gesv_trial("cusolver", 1024);
  model.learn(finished(registry, trial, sweep_start, 1, 4).record);
  ASSERT_GT(model.expected(trial)->high, 11);
  trial.timeout_seconds = 11;
  EXPECT_NEAR(model.expected(trial)->likely, 10, 1e-3);
  EXPECT_EQ(model.expected(trial)->high, 11);
  trial.energy_seconds = 3;
  EXPECT_EQ(model.expected(trial)->likely, 11);
  trial.timeout_seconds = 5;
  EXPECT_EQ(model.expected(trial)->low, 5);
}

TEST_F(LearnedTimes, SeparatesTrialsThatMeasureEnergy) {
  Trial trial = gesv_trial("cusolver", 1024);
  io::Record record = finished(registry, trial, sweep_start, 0.1, 7).record;
  record.energy_joules = 10;
  model.learn(record);
  EXPECT_FALSE(model.expected(trial));
  model.learn(finished(registry, trial, sweep_start, 0.1, 0.4).record);
  EXPECT_NEAR(model.expected(trial)->likely, 1, 1e-3);
  trial.energy_seconds = 3;
  EXPECT_NEAR(model.expected(trial)->likely, 7.6, 1e-3);
}

TEST_F(LearnedTimes, KnowsAGpuWithoutEnergyCounter) {
  Trial trial = gesv_trial("cusolver", 1024);
  model.learn(finished(registry, trial, sweep_start, 0.1, 0.4).record);
  trial.energy_seconds = 3;
  EXPECT_LT(model.expected(trial)->low, 1);
  EXPECT_GT(model.expected(trial)->high, 7);
}

TEST_F(LearnedTimes, PrintsARangeOrOneTime) {
  EXPECT_EQ(range_text({100, 200, 400}), "1 min 40 s to 6 min 40 s");
  EXPECT_EQ(range_text({100, 105, 110}), "about 1 min 45 s");
}

}  // namespace
}  // namespace gaussweep::driver
