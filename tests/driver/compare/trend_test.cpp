// Tests change points in simulated nightly runs, with and without steps, drifts and changes of the GPU.

#include "driver/compare/trend.hpp"
#include "driver/results/identity.hpp"
#include "tests/driver/compare/identical_runs.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;
using namespace std::string_literals;

TEST(ChangePoints, EnergyDistanceIsLargestAtTheStep) {
  EXPECT_EQ(largest_distance({0, 1, 0, 1, 5, 6, 5, 6, 5}, 0, 9, 2), 4U);
  EXPECT_EQ(largest_distance({9, 9, 0, 0, 0, 7, 7, 7, 7}, 2, 9, 2), 5U)
      << "only values between begin and end";
}

/// Simulates nightly runs of many trials. A trial's ln(time / mean time) is that of a random worker process
/// which was measured on the second GPU (identical_runs.hpp).
class Nights {
 public:
  explicit Nights(unsigned seed) : bits_(seed) {
    std::map<std::string, std::vector<const Record*>> trials;
    static const auto runs = identical_runs();
    for (const auto& [name, run] : runs) {
      for (const Record& r : run.records) {
        if (name.front() != 'a') trials[r.method + r.precision + std::to_string(r.n)].push_back(&r);
      }
    }
    for (auto& [name, records] : trials) pool_.push_back(std::move(records));
  }
  /// Returns the run of night `number` with `count` trials, each a random record of its pool.
  io::Results night(std::size_t count, std::size_t number) {
    io::Results results;
    for (std::size_t i = 0; i < count; ++i) {
      const auto& records = pool_[i % pool_.size()];
      Record r = *records[bits_() % records.size()];
      r.run_id = "night" + std::to_string(number);
      r.start_time = "2026-" + std::to_string(1000 + number);
      r.commit = r.run_id;
      r.matrix_seed = static_cast<std::int64_t>(i / pool_.size());
      results.records.push_back(std::move(r));
    }
    return results;
  }

 private:
  std::mt19937_64 bits_;
  std::vector<std::vector<const Record*>> pool_;
};

using Sets = std::vector<std::pair<std::string, io::Results>>;

std::size_t count_of_changes(const Trend& trend) {
  return trend_sentences(trend).size();
}

TEST(Trend, TwoHundredNightsOfFiveHundredTrialsRaiseNoAlarm) {
  Nights nights(3);
  Sets sets;
  for (std::size_t i = 0; i < 200; ++i) sets.emplace_back(std::to_string(i), nights.night(500, i));
  const Trend trend = trend_of(sets, {});
  EXPECT_EQ(trend.series.size(), 500U);
  std::printf("%zu false changes\n", count_of_changes(trend));
  EXPECT_LE(count_of_changes(trend), 2U);
}

/// Counts of trials in which trend found a step of 3 % that happened three nights ago.
struct StepCounts {
  int all = 0, found = 0, in_time = 0;  ///< GPU-bound trials of at least 100 us
  int short_all = 0, short_found = 0;   ///< all other trials with a step
  int wrong = 0;                        ///< trials without a step in which trend found one
};

/// Simulates `draws` trends of 33 nights with 500 trials. One in `every` trials has a step; each trend
/// chooses other trials.
StepCounts steps_found(unsigned seed, std::size_t every, std::size_t draws) {
  Nights nights(seed);
  Sets sets;
  for (std::size_t i = 0; i < 33; ++i) sets.emplace_back(std::to_string(i), nights.night(500, i));
  StepCounts counts;
  for (std::size_t draw = 0; draw < draws; ++draw) {
    const auto steps = [&](std::size_t trial) { return trial % every == (draw * 37) % every; };
    std::set<std::string> stepped;
    const auto step = [&](double factor) {
      for (std::size_t i = 30; i < sets.size(); ++i) {
        for (std::size_t trial = 0; trial < 500; ++trial) {
          Record& r = sets[i].second.records[trial];
          if (!steps(trial)) continue;
          slow_down(r, factor);
          stepped.insert(trial_identity(r));
        }
      }
    };
    step(1.03);
    for (const TrendSeries& series : trend_of(sets, {}).series) {
      const bool is_found = !series.change.steps.empty() || series.change.is_drift;
      const double seconds = series.seconds.front();
      if (stepped.count(trial_identity(series.identity)) == 0) {
        counts.wrong += is_found;
      } else if (seconds < 1e-4 ||
                 (series.kind == TimeKind::run && series.identity.queue_seconds > 0.5 * seconds)) {
        ++counts.short_all;
        counts.short_found += is_found;
      } else {
        ++counts.all;
        counts.found += is_found;
        counts.in_time +=
            is_found && !series.change.steps.empty() && series.nights[series.change.steps.back().at] == 30;
      }
    }
    step(1 / 1.03);
  }
  std::printf("every %zu.: %d of %d found, %d at the night; of short or paced ones %d of %d; %d wrong\n",
              every, counts.found, counts.all, counts.in_time, counts.short_found, counts.short_all,
              counts.wrong);
  return counts;
}

// If only few trials have a step, trend needs more evidence for each one; some trials scatter by 3 %
// themselves.
TEST(Trend, FindsStepsOfThreePercentWithinThreeNights) {
  const auto expect = [](std::size_t every, std::size_t draws, double share) {
    const StepCounts counts = steps_found(5, every, draws);
    EXPECT_GE(counts.found, share * counts.all) << every;
    EXPECT_GE(counts.in_time, (share - 0.05) * counts.all) << every << ": some a night off";
    EXPECT_LE(counts.wrong, 2 + 0.02 * counts.found) << every;
  };
  expect(1, 1, 0.95);
  expect(10, 2, 0.94);
  expect(100, 6, 0.9);
  expect(500, 12, 0.8);
}

TimeSeries series_of(const std::vector<double>& logs) {
  return {logs, std::vector<int>(logs.size(), 0), 1e-5, 6e-4};
}

TEST(ChangePoints, SlowDriftIsNotAStep) {
  std::vector<double> logs;
  for (int i = 0; i < 60; ++i) logs.push_back(0.001 * i + (i % 3 == 0 ? 0.003 : -0.002));
  const SeriesChange change = changes_of(series_of(logs), 1e-4, 0.01);
  EXPECT_TRUE(change.is_drift);
  EXPECT_TRUE(change.steps.empty());
  EXPECT_NEAR(change.drift, 0.059, 0.005);
  EXPECT_LT(change.drift_low, 0.059);
  EXPECT_GT(change.drift_high, 0.059);
}

// The times of CPU methods, whose expected variance is as large as the step.
TEST(ChangePoints, OneOddNightDoesNotHideAStep) {
  const auto steps = [](std::vector<double> logs) {
    for (std::size_t i = 0; i < logs.size(); ++i) logs[i] += i % 2 == 0 ? 0.01 : -0.01;
    const TimeSeries series{logs, std::vector<int>(logs.size(), 0), /*model_variance=*/0.04, 6e-4};
    std::vector<std::size_t> nights;
    for (const ChangePoint& step : changes_of(series, 0.01, 0.01).steps) nights.push_back(step.at);
    return nights;
  };
  const double slow = 0.26;
  EXPECT_THAT(steps({0, 0, 0, 0, slow, slow, slow, slow}), ::testing::ElementsAre(4U));
  EXPECT_THAT(steps({0, 0, 0, 0, slow, slow, slow, slow, 0}), ::testing::ElementsAre(4U));
  EXPECT_THAT(steps({0, 0, 0, 0, slow, slow, 1, slow, slow}), ::testing::ElementsAre(4U));
  EXPECT_THAT(steps({1, 0, 0, 0, slow, slow, slow, slow}), ::testing::ElementsAre(4U));
  EXPECT_THAT(steps({0, 0, slow, 0, slow, slow, 0, slow, 0}), ::testing::IsEmpty()) << "two values in turns";
}

// Simulates trials that do not change. The rate without a rule for odd nights is 0.4 %.
TEST(ChangePoints, OddNightsKeepTheFalseAlarmRate) {
  std::mt19937_64 bits(11);
  std::normal_distribution<double> normal;
  constexpr int trials = 20000, nights = 9;
  int alarms = 0;
  for (int trial = 0; trial < trials; ++trial) {
    TimeSeries series{{}, std::vector<int>(nights, 0), /*model_variance=*/0.04, 6e-4};
    for (int i = 0; i < nights; ++i) series.logs.push_back(0.01 * normal(bits));
    alarms += changes_of(series, 0.01, 0.01).steps.empty() ? 0 : 1;
  }
  EXPECT_LE(alarms, trials / 100);
}

TEST(ChangePoints, FindsStepsUpAndDown) {
  std::vector<double> logs;
  for (int i = 0; i < 30; ++i) logs.push_back((i >= 10 && i < 17 ? 0.05 : 0) + (i % 2 == 0 ? 0.002 : -0.002));
  const SeriesChange change = changes_of(series_of(logs), 1e-4, 0.01);
  ASSERT_EQ(change.steps.size(), 2U);
  EXPECT_EQ(change.steps[0].at, 10U);
  EXPECT_EQ(change.steps[1].at, 17U);
  EXPECT_NEAR(change.steps[0].log, 0.05, 0.003);
  EXPECT_NEAR(change.steps[1].log, -0.05, 0.003);
  EXPECT_FALSE(change.is_drift);
}

TEST(ChangePoints, AChangeOfTheGpuIsNotAStep) {
  std::vector<double> logs;
  TimeSeries series = series_of({});
  for (int i = 0; i < 20; ++i) {
    series.logs.push_back((i >= 10 ? 0.03 : 0) + (i % 2 == 0 ? 0.002 : -0.002));
    series.gpus.push_back(i >= 10 ? 1 : 0);
  }
  EXPECT_TRUE(changes_of(series, 1e-4, 0.01).steps.empty());
  series.gpus[15] = 0;  // now the same GPU measured on both sides of the step
  const SeriesChange change = changes_of(series, 1e-4, 0.01);
  ASSERT_EQ(change.steps.size(), 1U);
  EXPECT_FALSE(change.steps[0].is_other_gpu);
}

TEST(Trend, TimesWithOtherThreadsAreAnotherSeries) {
  Sets sets;
  for (int i = 0; i < 8; ++i) {
    io::HostRow host;
    host.host = "host";
    host.cpu = "CPU";
    host.blas_threads = i < 4 ? 4 : 1;
    Record r;
    r.problem = "gemm";
    r.method = "openblas";
    r.backend = "host";
    r.host = host.host;
    r.status = "pass";
    r.parameters = "{}";
    r.start_time = "2026-11-" + std::to_string(10 + i);
    r.run_id = r.start_time;
    for (double* each : {&r.seconds_q1, &r.seconds_median, &r.seconds_q3}) *each = i < 4 ? 1e-3 : 4e-3;
    io::Results night;
    night.records.push_back(r);
    night.hosts.push_back(host);
    sets.emplace_back(std::to_string(i), std::move(night));
  }
  const Trend trend = trend_of(sets, {});
  EXPECT_EQ(trend.series.size(), 2U);
  EXPECT_TRUE(trend.has_other_threads);
  EXPECT_THAT(trend_sentences(trend), ::testing::IsEmpty());
}

TEST(Trend, SeriesKnowsHowItsTrialEnded) {
  const auto ended_as = [](const char* last_status) {
    Sets sets;
    for (int i = 0; i < 3; ++i) {
      Record r;
      r.problem = "gemm";
      r.method = "openblas";
      r.backend = "host";
      r.status = i < 2 ? "pass" : last_status;
      r.start_time = "2026-11-" + std::to_string(10 + i);
      r.run_id = r.start_time;
      for (double* each : {&r.seconds_q1, &r.seconds_median, &r.seconds_q3}) *each = 1e-3;
      io::Results night;
      night.records.push_back(r);
      r.n = 2;  // this trial is in all nights
      r.status = "pass";
      night.records.push_back(r);
      if (*last_status == '\0' && i == 2) night.records.erase(night.records.begin());
      sets.emplace_back(std::to_string(i), std::move(night));
    }
    std::map<std::int64_t, std::string> endings;
    for (const TrendSeries& series : trend_of(sets, {}).series) endings[series.identity.n] = series.ended_as;
    EXPECT_EQ(endings.at(2), "");
    return endings.at(0);
  };
  EXPECT_EQ(ended_as("failed"), "failed");
  EXPECT_EQ(ended_as("crashed"), "crashed");
  EXPECT_EQ(ended_as(""), "") << "no record";
}

TEST(Trend, SeriesEndsByTheNextNightOfItsPlace) {
  // Returns the ending of the series on GPU A. Its trial passes in two nights, then has the statuses of
  // `later` on the given GPUs; an empty status means no record.
  const auto ended_as = [](const std::vector<std::pair<std::string, std::string>>& later) {
    Sets sets;
    for (std::size_t i = 0; i < 2 + later.size(); ++i) {
      Record r;
      r.problem = "gemm";
      r.method = "shared";
      r.backend = "cuda";
      r.status = "pass";
      r.gpu_name = "A";
      r.start_time = "2026-11-" + std::to_string(10 + i);
      r.run_id = r.start_time;
      for (double* each : {&r.seconds_q1, &r.seconds_median, &r.seconds_q3}) *each = 1e-3;
      io::Results night;
      Record other = r;  // is in all nights
      other.n = 2;
      night.records.push_back(other);
      if (i >= 2) r.gpu_name = later[i - 2].first, r.status = later[i - 2].second;
      if (!r.status.empty()) night.records.push_back(r);
      sets.emplace_back(std::to_string(i), std::move(night));
    }
    std::string ending;
    for (const TrendSeries& series : trend_of(sets, {}).series) {
      if (series.identity.n == 0 && series.place == "A") ending = series.ended_as;
    }
    return ending;
  };
  EXPECT_EQ(ended_as({{"A", "failed"}, {"A", "crashed"}}), "failed");
  EXPECT_EQ(ended_as({{"", ""}, {"A", "failed"}}), "") << "missing in the night after the last time";
  EXPECT_EQ(ended_as({{"B", "failed"}}), "") << "on another GPU";
  EXPECT_EQ(ended_as({{"", "crashed"}}), "crashed") << "before the GPU was known";
}

TEST(Trend, ShardsOfANightAreOneNight) {
  Nights nights(3);
  Sets sets;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string folder = "nights/" + std::to_string(i);
    for (const std::string plan : {"a", "b"}) {
      io::Results first = nights.night(20, i), second = first;
      first.records.resize(10);
      second.records.erase(second.records.begin(), second.records.begin() + 10);
      for (Record& r : second.records) r.run_id += "b";
      for (io::Results* shard : {&first, &second}) {
        shard->attributes["plan_name"] = plan;
        for (Record& r : shard->records) r.problem = plan, r.run_id += plan;
      }
      sets.emplace_back(folder + plan + "/shard-1-of-2", first);
      sets.emplace_back((plan == "b" ? "other" : folder + plan) + "/shard-2-of-2", second);
    }
  }
  const Trend trend = trend_of(sets, {});
  std::vector<std::string> paths;
  for (const Night& night : trend.nights) paths.push_back(night.path);
  EXPECT_THAT(paths,
              ::testing::UnorderedElementsAre("nights/0a", "nights/1a", "nights/2a", "nights/0b/shard-1-of-2",
                                              "nights/1b/shard-1-of-2", "nights/2b/shard-1-of-2"));
  EXPECT_EQ(trend.series.size(), 40U);
  for (const TrendSeries& series : trend.series) EXPECT_EQ(series.nights.size(), 3U);
}

TEST(Trend, SentenceNamesDateSizeAndCommits) {
  Sets sets;
  for (int i = 11; i >= 0; --i) {  // unsorted input
    Record r;
    r.problem = "gemm";
    r.method = "shared";
    r.backend = "cuda";
    r.precision = "double";
    r.m = r.n = r.k = 1024;
    r.status = "pass";
    r.gpu_name = "GPU";
    r.gpu_uuid = "GPU-1";
    r.parameters = "{}";
    r.samples = 5;
    r.run_id = std::to_string(i);
    r.start_time = "2026-11-" + std::to_string(10 + i) + "T02:00:00Z";
    r.commit = i < 7 ? "aaaaaaaaaaaa" : "bbbbbbbbbbbb";
    const double seconds = (i < 7 ? 1e-3 : 1.04e-3) * (1 + 1e-4 * (i % 3));
    for (double* each : {&r.seconds_q1, &r.seconds_median, &r.seconds_q3}) *each = seconds;
    io::Results night;
    night.records.push_back(r);
    night.attributes["driver_version"] = i < 7 ? "570" : "580";
    sets.emplace_back(std::to_string(i), std::move(night));
  }
  const auto names_of = [](const Trend& trend) {
    return std::pair(trend.nights.at(6).name, trend.nights.at(7).name);
  };
  EXPECT_EQ(names_of(trend_of(sets, {})), std::pair("2026-11-16"s, "2026-11-17"s));
  Sets of_one_date = sets;
  of_one_date[6].second.records[0].start_time = "2026-11-17T01:00:00Z";
  EXPECT_EQ(names_of(trend_of(of_one_date, {})), std::pair("2026-11-17 01:00"s, "2026-11-17 02:00"s));
  const std::vector<std::string> sentences = trend_sentences(trend_of(sets, {}));
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_EQ(sentences.front().rfind("gemm/shared double n=1024: 4.0 % slower (", 0), 0U) << sentences.front();
  EXPECT_NE(sentences.front().find("since 2026-11-17, commits aaaaaaaa..bbbbbbbb, driver 570 -> 580"),
            std::string::npos)
      << sentences.front();
  for (auto& [path, night] : sets) {
    night.records[0].library = "mine.so";
    night.records[0].library_digest = night.records[0].commit;
  }
  EXPECT_NE(trend_sentences(trend_of(sets, {})).at(0).find(", another version of mine.so"),
            std::string::npos);
}

}  // namespace
}  // namespace gaussweep::driver
