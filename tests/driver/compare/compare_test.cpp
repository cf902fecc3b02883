// Tests the rule of `compare`: verdicts, drift, regressions, missing trials, crossovers between GPUs, and its
// tables.

#include "driver/compare/compare.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "driver/base/errors.hpp"
#include "driver/base/statistics.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

CompareRules rules(double threshold) {
  CompareRules result;
  result.threshold = threshold;
  return result;
}

// Returns samples of a run time that scatters by `sigma` around `seconds`; the generator's bits are the same
// on every platform.
std::vector<double> scattered(std::mt19937_64& bits, double seconds, double sigma, int count) {
  std::vector<double> samples;
  for (int i = 0; i < count; ++i) {
    double sum = -6;  // the sum of twelve uniform numbers is close to normally distributed
    for (int j = 0; j < 12; ++j) sum += static_cast<double>(bits() >> 11) * 0x1p-53;
    samples.push_back(seconds * std::exp(sigma * sum));
  }
  return samples;
}

Comparison compared(std::vector<Record> base, std::vector<Record> now, double threshold = 0.05) {
  return compare(results_of(std::move(base)), results_of(std::move(now)), rules(threshold));
}

/// Returns a launch-bound trial of `gesv/method`. @param whole times of ordinary runs @param gpu time of a
/// run that the device replays as a CUDA graph, which excludes the time to launch kernels
Record launched(const std::vector<double>& whole, double gpu) {
  Record r = example_record("method", 64, whole);
  r.replay_q1 = gpu * 0.999;
  r.replay_median = gpu;
  r.replay_q3 = gpu * 1.001;
  return r;
}

TEST(Compare, IsHostBoundWhenOnlyTheLaunchTimeDrifts) {
  const std::vector<double> quick{2.00, 2.01, 2.02, 2.01, 2.00}, slow{2.40, 2.41, 2.42, 2.41, 2.40};
  const auto verdict = [](const Record& base, const Record& now) {
    const Comparison c = compared({base}, {now}, 0.03);
    EXPECT_EQ(c.pairs.size(), 1U);
    return std::pair{c.pairs.at(0).change.verdict, !c.regressions.empty()};
  };
  using Answer = std::pair<Verdict, bool>;
  EXPECT_EQ(verdict(launched(quick, 1), launched(slow, 1)), (Answer{Verdict::host_bound, false}));
  EXPECT_EQ(verdict(launched(quick, 1), launched(slow, 1.05)), (Answer{Verdict::slower, true}));
  EXPECT_EQ(verdict(launched(quick, 1), launched(quick, 1.05)), (Answer{Verdict::slower, true}))
      << "the method became slower, hidden by the host";
  EXPECT_EQ(verdict(launched(quick, 1), launched(quick, 1)), (Answer{Verdict::same, false}));
  Record without_replay = launched(slow, 1);
  without_replay.replay_median = Record::unknown;
  EXPECT_EQ(verdict(launched(quick, 1), without_replay), (Answer{Verdict::slower, true})) << "no replay time";
}

TEST(Compare, ReportsNoRegressionForAnotherCpuThreadCount) {
  const auto with = [](double seconds, std::int64_t threads) {
    io::Results results =
        results_of({example_record("method", 64, {seconds, 1.01 * seconds, 1.02 * seconds})});
    Record& r = results.records.front();
    r.backend = "host";
    r.gpu_name = "";
    io::HostRow host;
    host.host = r.host;
    host.cpu = "CPU";
    host.blas_threads = threads;
    results.hosts = {host};
    return results;
  };
  const auto regressions = [&](std::int64_t before, std::int64_t now) {
    return compare(with(1, before), with(9, now), rules(0.03)).regressions.size();
  };
  EXPECT_EQ(regressions(1, 2), 0U);
  EXPECT_GT(regressions(2, 2), 0U);
  EXPECT_GT(regressions(0, 2), 0U) << "older files have no thread count";
  EXPECT_EQ(compare(with(1, 1), with(1, 16), {}).pairs.at(0).new_place, "CPU, 16 threads");
}

TEST(Compare, RegressionsNameTheOperandsInWhichTrialsDiffer) {
  const auto set = [](double seconds) {
    std::vector<Record> records;
    for (const auto& [uplo, nrhs] : {std::pair{"lower", 1}, {"lower", 8}, {"upper", 1}}) {
      records.push_back(example_record("method", 64, {seconds, 1.001 * seconds, 1.002 * seconds}));
      records.back().uplo = uplo;
      records.back().nrhs = nrhs;
    }
    return results_of(std::move(records));
  };
  std::set<std::string> named;
  for (const std::string& words : compare(set(1), set(2), rules(0.03)).regressions) {
    if (words.find("n=64") != std::string::npos) named.insert(words.substr(0, words.find(" (")));
  }
  EXPECT_EQ(named.size(), 3U) << fmt::format("{}", fmt::join(named, "; "));
}

TEST(Compare, ADefaultThatChangedIsNoMissingTrial) {
  const auto set = [](const std::string& parameters, const std::string& plan) {
    std::vector<Record> records = {example_record("mine", 64, {1, 1.01, 1.02}),
                                   example_record("vendor", 64, {1, 1.01, 1.02})};
    records[0].parameters = parameters;
    io::Results results = results_of(std::move(records));
    results.attributes = {{"plan", plan}, {"shard", "1/1"}};
    return results;
  };
  const io::Results base = set(R"({"block":64,"way":"a"})", "p");
  const Comparison changed = compare(base, set(R"({"block":16,"way":"a"})", "p"), {});
  EXPECT_THAT(changed.regressions, ::testing::IsEmpty());
  EXPECT_THAT(changed.changed_parameters, ::testing::ElementsAre("gesv/mine: block=64 before, block=16 now"));
  const Comparison other_plan = compare(base, set(R"({"block":16,"way":"a"})", "q"), {});
  EXPECT_EQ(other_plan.changed_parameters, changed.changed_parameters);
  EXPECT_THAT(other_plan.vanished, ::testing::IsEmpty());
  EXPECT_THAT(other_plan.appeared, ::testing::ElementsAre("gesv/mine at n = 64"));
  io::Results without = set("{}", "p");
  without.records.erase(without.records.begin());
  EXPECT_THAT(compare(base, without, {}).regressions, ::testing::SizeIs(1));
}

TEST(Compare, StatusChangedByToleranceAloneIsNeitherRegressionNorRepair) {
  const auto set = [](double ratio, double tolerance, const char* status) {
    Record r = example_record("mine", 64, {1, 1.01, 1.02});
    r.residual_ratio = ratio;
    r.tolerance = tolerance;
    r.status = status;
    return results_of({r});
  };
  const io::Results base = set(0.4, 16, "pass");
  const Comparison same_answer = compare(base, set(0.4, 0.05, "suspect"), {});
  EXPECT_THAT(same_answer.regressions, ::testing::IsEmpty());
  EXPECT_EQ(same_answer.pairs.at(0).accuracy, "pass -> suspect (tolerance 16 -> 0.05)");
  EXPECT_THAT(changed_sentence(same_answer), ::testing::StartsWith("The tolerance changed (16 -> 0.05)"));
  EXPECT_THAT(compare(base, set(1e6, 0.05, "failed"), {}).regressions, ::testing::SizeIs(1));
  const io::Results strict = set(0.4, 0.02, "failed");
  EXPECT_FALSE(compare(strict, base, {}).pairs.at(0).is_repaired);
  EXPECT_TRUE(compare(strict, set(0.01, 16, "pass"), {}).pairs.at(0).is_repaired);
}

TEST(Compare, AMissingTrialOfASweptParameterIsNoChangedDefault) {
  const auto set = [](const std::vector<std::pair<std::int64_t, int>>& trials) {
    std::vector<Record> records;
    for (const auto& [n, block] : trials) {
      records.push_back(example_record("mine", n, {1, 1.01, 1.02}));
      records.back().parameters = fmt::format(R"({{"block":{}}})", block);
    }
    io::Results results = results_of(std::move(records));
    results.attributes = {{"plan", "p"}, {"shard", "1/1"}};
    return results;
  };
  // The base lacks the trial with n = 64 and block 16, the new run the one with n = 64 and block 32.
  const Comparison comparison =
      compare(set({{64, 32}, {128, 16}, {128, 32}}), set({{64, 16}, {128, 16}, {128, 32}}), {});
  EXPECT_THAT(comparison.changed_parameters, ::testing::IsEmpty());
  EXPECT_THAT(comparison.regressions, ::testing::ElementsAre(::testing::HasSubstr("(missing)")));
}

TEST(Compare, TrialsOfAShardWithoutRecordsAreMissing) {
  io::Results base =
      results_of({example_record("mine", 64, {1, 1.01, 1.02}), example_record("mine", 128, {1, 1, 1})});
  io::Results now = results_of({example_record("mine", 64, {1, 1.01, 1.02})});
  base.attributes = {{"plan", "p"}, {"shard", "1/2, 2/2"}};
  now.attributes = {{"plan", "p"}, {"shard", "1/2"}};
  EXPECT_EQ(compare(base, now, {}).regressions.size(), 1U);
  now.attributes["shard"] = "1/3";
  EXPECT_EQ(compare(base, now, {}).regressions.size(), 1U) << "a shard of another division";
  now.attributes["shard"] = "1/3, 3/3";
  EXPECT_EQ(compare(base, now, {}).regressions.size(), 1U);
  base.attributes["shard"] = "1/1";
  EXPECT_EQ(compare(base, now, {}).regressions.size(), 1U);
  now.attributes["shard"] = "1/1";
  base.attributes["shard"] = "1/3, 3/3";
  EXPECT_EQ(compare(base, now, {}).regressions.size(), 0U) << "base is not the whole plan";
  base.attributes["shard"] = "1/3, 3/3, 1/1";
  EXPECT_EQ(compare(base, now, {}).regressions.size(), 1U) << "one of two bases is the whole plan";
}

TEST(Compare, ATrialThatBasesPlanNoLongerHasIsNotMissing) {
  io::Results base =
      results_of({example_record("mine", 64, {1, 1.01, 1.02}), example_record("mine", 128, {1, 1, 1})});
  io::Results now = results_of({example_record("mine", 64, {1, 1.01, 1.02})});
  base.attributes = now.attributes = {{"plan", "p"}, {"shard", "1/1"}};
  EXPECT_EQ(compare(base, now, {}).regressions.size(), 1U);
  base.records[1].message = "took long; no longer in the plan";
  const Comparison comparison = compare(base, now, {});
  EXPECT_THAT(comparison.regressions, ::testing::IsEmpty());
  EXPECT_THAT(comparison.vanished, ::testing::IsEmpty());
  EXPECT_EQ(comparison.only_base, 1);
}

// The host takes half of most of these times, but only a tenth of the last one. Drift of the host therefore
// changes the last time by a fifth as much.
TEST(Compare, HostDriftMovesATimeByTheHostsPartOfIt) {
  const auto set = [](double launch) {
    std::vector<Record> records;
    for (std::int64_t n : {64, 128, 256, 512, 1024}) {
      const double host = n == 1024 ? 0.2 : 2;
      const double run = 2 + host * launch;
      Record r = launched({run, 1.001 * run, 1.002 * run}, 2);
      r.n = r.m = r.k = n;
      r.matrix_digest += std::to_string(n);
      records.push_back(r);
    }
    return results_of(std::move(records));
  };
  EXPECT_THAT(compare(set(1), set(0.7), rules(0.02)).regressions, ::testing::IsEmpty());
  EXPECT_THAT(compare(set(0.7), set(1), rules(0.02)).regressions, ::testing::IsEmpty());
}

TEST(Compare, JudgesHostPacedTimesByTheHostDrift) {
  const auto set = [](double launch, double paced) {
    std::vector<Record> records;
    for (std::int64_t n : {64, 128, 256, 512}) {
      Record r = launched({2 * launch, 2.01 * launch, 2.02 * launch}, 1);
      r.n = r.m = r.k = n;
      r.matrix_digest += std::to_string(n);
      records.push_back(r);
    }
    Record r = example_record("paced", 64, {paced, paced * 1.001, paced * 1.002});
    r.queue_seconds = 0.99 * paced;
    records.push_back(r);
    return results_of(std::move(records));
  };
  const auto verdict = [](const Comparison& c) {
    for (const Pair& pair : c.pairs) {
      if (pair.identity.method == "paced") return std::pair{pair.change.verdict, !c.regressions.empty()};
    }
    return std::pair{Verdict::untimed, false};
  };
  using Answer = std::pair<Verdict, bool>;
  EXPECT_EQ(verdict(compare(set(1, 1), set(1.1, 1.12), rules(0.03))), (Answer{Verdict::host_bound, false}));
  EXPECT_EQ(verdict(compare(set(1, 1), set(1.1, 1.6), rules(0.03))), (Answer{Verdict::slower, true}))
      << "far more than the host drifted";
  EXPECT_EQ(verdict(compare(set(1, 1), set(1, 1.4), rules(0.03))), (Answer{Verdict::slower, true}))
      << "the host did not drift at all";
}

// A wait costs less than the scatter of the times, so compare counts waits.
TEST(Compare, OneMoreWaitIsSlowerEvenIfTheTimeIsNot) {
  Record base = example_record("m", 64, {1, 1.001, 1.002});
  base.waits = 1;
  base.iterations = 7;
  const auto judged = [&](auto change, const CompareRules& how = {}) {
    Record now = base;
    change(now);
    const Comparison c = compare(results_of({base}), results_of({now}), how);
    const Pair& pair = c.pairs.at(0);
    return fmt::format("{} {} {}", to_string(pair.change.verdict), pair.reason, c.regressions.size());
  };
  EXPECT_EQ(judged([](Record& r) { r.waits = 2; }), "SLOWER waits 1 -> 2 1");
  EXPECT_EQ(judged([](Record& r) {
              r = example_record("m", 64, {0.995, 1, 1.01});
              r.waits = 2;
              r.iterations = 7;
            }),
            "SLOWER waits 1 -> 2 1");
  EXPECT_EQ(judged([](Record& r) { r.waits = 0; }), "SAME  0");
  EXPECT_EQ(judged([](Record& r) { r.waits = -1; }), "SAME  0") << "a file without wait counts";
  EXPECT_EQ(judged([](Record& r) {
              r.waits = 2;
              r.iterations = 8;
            }),
            "SAME  0")
      << "one wait per iteration";
  CompareRules sized;
  sized.fail_above = 0.05;
  EXPECT_EQ(judged([](Record& r) { r.waits = 2; }, sized), "SLOWER waits 1 -> 2 0");
  EXPECT_EQ(judged([](Record& r) {
              r = example_record("m", 64, {0.5, 0.51, 0.52});
              r.waits = 2;
              r.iterations = 7;
            }),
            "FASTER  0");
}

TEST(Compare, PoolsRoundsAndUsesTheirScatter) {
  const auto rounds = [](std::initializer_list<double> levels) {
    std::vector<Record> records;
    for (const double level : levels) {
      Record r = example_record("method", 64, {level, level * 1.001, level * 0.999, level, level});
      r.round = static_cast<std::int64_t>(records.size()) + 1;
      records.push_back(std::move(r));
    }
    return results_of(std::move(records));
  };
  const auto verdict = [](const io::Results& base, const io::Results& now) {
    return compare(base, now, rules(0.03)).pairs.at(0).change.verdict;
  };
  // With one process per side the difference seems clear; with three, processes differ by as much.
  EXPECT_EQ(verdict(rounds({1.0}), rounds({1.1})), Verdict::slower);
  EXPECT_EQ(verdict(rounds({1.0, 1.1, 1.2}), rounds({1.1, 1.2, 1.3})), Verdict::unclear);
  EXPECT_EQ(verdict(rounds({1.0, 1.01, 1.0}), rounds({1.1, 1.11, 1.1})), Verdict::slower);
}

// A duet compares each trial by its own rounds. If most trials of a method moved and some did not, that is a
// change and not scatter.
TEST(Compare, DuetFindsOnePercentWhenOnlySomeTrialsMoved) {
  std::mt19937_64 bits(33);
  const auto build = [&](double factor) {
    std::vector<Record> records;
    for (std::int64_t n = 1; n <= 11; ++n) {
      for (std::int64_t round = 1; round <= 10; ++round) {
        const double seconds = (n <= 4 ? 1 : factor) * scattered(bits, 1e-3 * n, 0.0015, 1).front();
        Record r = example_record("changed", 64, {seconds, seconds, seconds});
        r.n = r.m = r.k = 64 * n;
        r.round = round;
        records.push_back(std::move(r));
      }
    }
    io::Results results = results_of(std::move(records));
    results.attributes["duet"] = "one";
    return results;
  };
  const io::Results base = build(1);
  const Comparison c = compare(base, build(1.01), {});
  ASSERT_EQ(c.pairs.size(), 11U);
  for (const Pair& pair : c.pairs)
    EXPECT_EQ(pair.change.verdict, pair.identity.n <= 256 ? Verdict::same : Verdict::slower)
        << pair.identity.n;
  for (const Pair& pair : compare(base, build(1), {}).pairs)
    EXPECT_NE(pair.change.verdict, Verdict::slower) << pair.identity.n;
}

TEST(Compare, ReportsOtherClocks) {
  Record base = example_record("method", 64, {1, 1, 1}), now = base;
  for (io::Sample& sample : now.sample_list) sample.clock_mhz = 1755;
  const Comparison c = compared({base}, {now}, 0.03);
  EXPECT_EQ(c.other_clocks, 1);
  EXPECT_EQ(c.furthest_base_clock, 1980);
  EXPECT_EQ(c.furthest_new_clock, 1755);
  for (io::Sample& sample : now.sample_list) sample.clock_mhz = 1960;
  EXPECT_EQ(compared({base}, {now}, 0.03).other_clocks, 0);
}

TEST(Compare, FindsTheOneMethodThatBecameSlower) {
  std::mt19937_64 bits(3);
  std::vector<Record> base, now;
  for (const char* method : {"alpha", "beta", "gamma"}) {
    for (std::int64_t n = 100; n <= 1000; n += 100) {
      const double seconds = 1e-9 * static_cast<double>(n * n * n);
      const double factor = std::string(method) == "beta" ? 1.1 : 1.0;
      base.push_back(example_record(method, n, scattered(bits, seconds, 0.03, 5)));
      now.push_back(example_record(method, n, scattered(bits, seconds * factor, 0.03, 5)));
    }
  }
  const Comparison same = compared(base, base);
  EXPECT_TRUE(same.regressions.empty());
  const Comparison comparison = compared(base, now);
  EXPECT_EQ(comparison.pairs.size(), 30U);
  EXPECT_FALSE(comparison.regressions.empty());
  ASSERT_EQ(comparison.methods.size(), 3U);
  for (const MethodChange& method : comparison.methods) {
    EXPECT_EQ(method.change.verdict, method.method == "gesv/beta" ? Verdict::slower : Verdict::same)
        << method.method;
    EXPECT_EQ(method.pairs, 10);
  }
  const Comparison backwards = compared(now, base);
  EXPECT_TRUE(backwards.regressions.empty()) << "faster is no regression";
}

// Each run has an offset (clocks, neighbours) that its own samples do not show.
TEST(Compare, IgnoresRunToRunVariation) {
  std::mt19937_64 bits(5);
  std::vector<Record> base, now, slowed;
  for (const char* method : {"alpha", "beta", "gamma", "delta"}) {
    for (std::int64_t n = 100; n <= 1000; n += 100) {
      const auto run = [&](double factor, double between) {
        const double seconds = 1e-9 * static_cast<double>(n * n * n) * factor;
        return example_record(method, n, scattered(bits, scattered(bits, seconds, between, 1)[0], 0.002, 5));
      };
      base.push_back(run(1, 0.08));
      now.push_back(run(1, 0.08));
      slowed.push_back(run(std::string(method) == "beta" ? 1.8 : 1, 0.08));
    }
  }
  const Comparison same = compared(base, now);
  ASSERT_EQ(same.noise.size(), 1U);
  EXPECT_EQ(same.noise[0].pairs, 40);
  EXPECT_GT(same.noise[0].excess_scatter_long, 10) << "the rule expects 0.4 % for one run";
  const auto timed_verdicts = std::count_if(same.pairs.begin(), same.pairs.end(), [](const Pair& pair) {
    return pair.change.verdict == Verdict::slower || pair.change.verdict == Verdict::faster;
  });
  EXPECT_LE(timed_verdicts, 2);
  EXPECT_EQ(std::count_if(same.methods.begin(), same.methods.end(),
                          [](const MethodChange& m) { return m.change.verdict == Verdict::slower; }),
            0);
  // A change far beyond the noise is found, and no other method is reported.
  for (const MethodChange& method : compared(base, slowed).methods) {
    EXPECT_EQ(method.change.verdict == Verdict::slower, method.method == "gesv/beta") << method.method;
  }
}

// Trials scatter independently from run to run; a slower method is slower in all of its trials.
TEST(Compare, FindsAMethodChangeBelowTheScatterOfItsTrials) {
  std::mt19937_64 bits(9);
  std::vector<Record> base, now;
  for (const char* method : {"alpha", "beta", "gamma", "delta", "epsilon", "zeta"}) {
    for (std::int64_t n = 100; n <= 1600; n += 100) {
      const auto run = [&](double factor) {
        const double seconds = 1e-9 * static_cast<double>(n * n * n) * factor;
        return example_record(method, n, scattered(bits, scattered(bits, seconds, 0.02, 1)[0], 0.002, 5));
      };
      base.push_back(run(1));
      now.push_back(run(std::string(method) == "beta" ? 1.1 : 1));
    }
  }
  const Comparison comparison = compared(base, now);
  ASSERT_EQ(comparison.noise.size(), 1U);
  EXPECT_GT(comparison.noise[0].method_sigma, 0);
  EXPECT_LT(comparison.noise[0].method_sigma, 0.02);
  for (const MethodChange& method : comparison.methods) {
    EXPECT_EQ(method.change.verdict == Verdict::slower, method.method == "gesv/beta") << method.method;
  }
}

TEST(Compare, SeparatesAccuracyFromTime) {
  std::vector<Record> base(4, example_record("m", 64, {1, 1, 1}));
  for (std::size_t i = 0; i < base.size(); ++i) base[i].n = static_cast<std::int64_t>(64 + i);
  std::vector<Record> now = base;
  now[0].status = "failed";
  now[0].residual_ratio = 1e6;
  now[1].residual_ratio = 15;  // 30 times larger, but still a pass
  now[2].status = "skipped";
  base[3].status = "failed";
  const Comparison comparison = compared(base, now);
  ASSERT_EQ(comparison.pairs.size(), 4U);
  EXPECT_EQ(comparison.pairs[0].accuracy, "pass -> failed");
  EXPECT_TRUE(comparison.pairs[0].is_worse);
  EXPECT_EQ(comparison.pairs[0].change.verdict, Verdict::untimed);
  EXPECT_EQ(comparison.pairs[1].accuracy, "residual ratio 0.5 -> 15");
  EXPECT_FALSE(comparison.pairs[1].is_worse);
  EXPECT_FALSE(comparison.pairs[2].is_worse) << "skipped is no failure";
  EXPECT_EQ(comparison.pairs[3].accuracy, "failed -> pass");
  EXPECT_FALSE(comparison.pairs[3].is_worse);
  EXPECT_FALSE(comparison.regressions.empty());
  now[0] = base[0];
  EXPECT_TRUE(compared(base, now).regressions.empty());
}

TEST(Compare, NamesTrialsThatFailedInBothAndRatesNone) {
  const auto trial = [](std::int64_t nrhs, double seconds, const char* status) {
    Record r = example_record("m", 64, {seconds, seconds, seconds});
    r.nrhs = nrhs;
    r.status = status;
    return r;
  };
  const Comparison comparison =
      compared({trial(1, 1, "failed"), trial(2, 1, "failed"), trial(3, 1, "pass"), trial(4, 1, "pass")},
               {trial(1, 9, "diverged"), trial(2, 1, "pass"), trial(3, 9, "pass"), trial(4, 1, "failed")});
  ASSERT_EQ(comparison.pairs.size(), 4U);
  EXPECT_EQ(comparison.pairs[0].change.verdict, Verdict::untimed);
  EXPECT_EQ(comparison.pairs[2].change.verdict, Verdict::slower);
  EXPECT_THAT(comparison.regressions,
              ::testing::IsSupersetOf({::testing::StartsWith("gesv/m double n=64 nrhs=3 "),
                                       ::testing::StartsWith("gesv/m double n=64 nrhs=4 ")}));
  EXPECT_THAT(repaired_trials(comparison), ::testing::ElementsAre("gesv/m double n=64 nrhs=2"));
  EXPECT_THAT(regression_text(comparison),
              ::testing::HasSubstr("Failed in both, not rated: 1 trial: gesv/m double n=64 nrhs=1."));
}

TEST(Compare, AMethodThatComputesNothingIsNotFaster) {
  std::vector<Record> base, now;
  for (std::int64_t n = 64; n < 72; ++n) {
    base.push_back(example_record("m", n, {1, 1, 1}));
    now.push_back(example_record("m", n, {1e-6, 1e-6, 1e-6}));
    now.back().status = "failed";
  }
  const Comparison comparison = compared(base, now);
  ASSERT_EQ(comparison.pairs.size(), 8U);
  for (const Pair& pair : comparison.pairs) EXPECT_EQ(pair.change.verdict, Verdict::untimed);
  ASSERT_EQ(comparison.methods.size(), 1U);
  EXPECT_EQ(comparison.methods[0].change.verdict, Verdict::untimed);
  EXPECT_EQ(comparison.regressions.size(), 8U);
  now.front() = base.front();  // the only trial with times that can be compared
  const Comparison other = compared(base, now);
  EXPECT_DOUBLE_EQ(other.methods.at(0).change.ratio, 1);
  for (Record& r : now) r.status = "pass";
  EXPECT_FALSE(compared(now, base).regressions.empty());
  for (Record& r : now) r.status = "failed";
  EXPECT_THAT(compared(now, base).regressions, ::testing::IsEmpty()) << "right answers may take longer";
}

TEST(Compare, TimesOfWrongAnswersDoNotCount) {
  const auto record = [](int run, std::int64_t round, double seconds, const char* status) {
    Record r = example_record("m", 64, {seconds, 1.001 * seconds, 1.002 * seconds});
    r.run_id = fmt::format("run-{}", run);
    r.start_time = fmt::format("2026-03-{:02}T00:00:00Z", run);
    r.round = round;
    r.status = status;
    return r;
  };
  // An earlier night of base was fast and wrong.
  const Comparison nights =
      compared({record(1, 1, 0.1, "failed"), record(2, 1, 1, "pass")}, {record(3, 1, 1, "pass")});
  EXPECT_EQ(nights.pairs.at(0).change.verdict, Verdict::same);
  EXPECT_DOUBLE_EQ(nights.pairs.at(0).change.ratio, 1);
  // One of base's rounds timed out, and the new times are twice as long.
  std::vector<Record> base, now, flaky;
  for (std::int64_t round = 1; round <= 10; ++round) {
    base.push_back(record(1, round, 1, round == 5 ? "timeout" : "pass"));
    now.push_back(record(2, round, 2, "pass"));
    flaky.push_back(record(2, round, 2, round == 7 ? "timeout" : "pass"));
  }
  const Comparison slower = compared(base, now);
  EXPECT_EQ(slower.pairs.at(0).base.run.processes, 9);
  EXPECT_EQ(slower.pairs.at(0).change.verdict, Verdict::slower);
  EXPECT_THAT(slower.regressions, ::testing::Not(::testing::IsEmpty()));
  EXPECT_TRUE(slower.pairs.at(0).is_repaired);
  // A trial that failed in some rounds of both runs is rated by its other rounds.
  const Comparison both = compared(base, flaky);
  EXPECT_EQ(both.pairs.at(0).change.verdict, Verdict::slower);
  EXPECT_FALSE(both.pairs.at(0).has_failed_in_both());
  const Comparison worse = compared(now, flaky);
  EXPECT_TRUE(worse.pairs.at(0).is_worse);
  EXPECT_EQ(worse.pairs.at(0).change.verdict, Verdict::untimed) << "wrong in one round";
}

TEST(Compare, CountsACrashBeforeTheDeviceWasKnownAsRegression) {
  const Record base = example_record("m", 64, {1, 1, 1});
  Record now = example_record("m", 64, {});
  now.status = "crashed";
  now.gpu_name.clear();
  now.residual_ratio = Record::unknown;
  const Comparison comparison = compared({base}, {now});
  ASSERT_EQ(comparison.pairs.size(), 1U);
  EXPECT_FALSE(comparison.regressions.empty());
  EXPECT_FALSE(comparison.has_other_places);
}

TEST(Compare, CountsUnpairedTrialsAndPoolsRepeatedRecords) {
  std::vector<Record> base = {example_record("m", 64, {1, 1, 1}), example_record("m", 65, {1})};
  std::vector<Record> now = {example_record("m", 64, {1, 1, 1}), example_record("m", 64, {1, 1}),
                             example_record("m", 66, {1})};
  now[1].run_id = "run-2";
  const Comparison comparison = compared(base, now);
  ASSERT_EQ(comparison.pairs.size(), 1U);
  EXPECT_EQ(comparison.pairs[0].now.run.samples, 5);
  EXPECT_EQ(comparison.only_base, 1);
  EXPECT_EQ(comparison.only_new, 1);
}

TEST(Compare, PairsOtherRepeatsButNotOtherMatrices) {
  const Record base = example_record("m", 64, {1, 1, 1});
  Record longer = example_record("m", 64, {1, 1, 1, 1});
  longer.key = "another key, since repeats differ";
  EXPECT_EQ(compared({base}, {longer}).pairs.size(), 1U);
  longer.matrix_digest = "another";
  EXPECT_EQ(compared({base}, {longer}).pairs.size(), 0U);
}

TEST(Compare, FindsTheCrossoverBetweenTwoGpus) {
  std::vector<Record> base, now;
  for (std::int64_t n = 256; n <= 4096; n *= 2) {
    // The base takes n^3 / 1000 ns; the new one n^2 ns: equal at n = 1000.
    const auto x = static_cast<double>(n);
    base.push_back(example_record("m", n, std::vector<double>(5, 1e-12 * x * x * x)));
    now.push_back(example_record("m", n, std::vector<double>(5, 1e-9 * x * x)));
    now.back().gpu_name = "NVIDIA B200";
  }
  const Comparison comparison = compared(base, now);
  EXPECT_TRUE(comparison.has_other_places);
  EXPECT_TRUE(comparison.regressions.empty()) << "another GPU is no regression";
  ASSERT_EQ(comparison.crossovers.size(), 1U);
  EXPECT_NEAR(comparison.crossovers[0].n, 1000, 1e-6);
  EXPECT_EQ(comparison.crossovers[0].finding, "NVIDIA B200 overtakes between n = 512 and 2048, near 1000");
}

TEST(Compare, CountsWorseTrialsOnAnotherGpuAsNotCounted) {
  const Record base = example_record("m", 64, {1, 1, 1});
  Record now = base;
  now.status = "failed";
  EXPECT_THAT(regression_text(compared({base}, {now})), ::testing::Not(::testing::HasSubstr("Not counted")));
  now.gpu_name = "NVIDIA B200";
  const Comparison comparison = compared({base}, {now});
  EXPECT_THAT(comparison.regressions, ::testing::IsEmpty());
  EXPECT_THAT(regression_text(comparison), ::testing::HasSubstr("Not counted: 1 WORSE, "));
  EXPECT_TRUE(is_listed(comparison.pairs.at(0)));
  Record skipped = example_record("m", 64, {});
  skipped.status = now.status = "skipped";
  EXPECT_FALSE(is_listed(compared({skipped}, {now}).pairs.at(0))) << "neither ran on its GPU";
}

TEST(Compare, ReportsNoCrossoverIfOneGpuIsAlwaysFaster) {
  Record base = example_record("m", 64, {2, 2, 2}), now = example_record("m", 64, {1, 1, 1});
  now.gpu_name = "NVIDIA B200";
  const Comparison comparison = compared({base}, {now});
  ASSERT_EQ(comparison.crossovers.size(), 1U);
  EXPECT_TRUE(std::isnan(comparison.crossovers[0].n));
  EXPECT_EQ(comparison.crossovers[0].finding, "NVIDIA B200 is faster wherever the difference is clear");
}

TEST(Compare, ComparesTrialsOnTheSameGpuOnly) {
  Record h200 = example_record("m", 64, {1, 1, 1}), k40 = example_record("m", 64, {9, 9, 9});
  k40.gpu_name = "Tesla K40c";
  const Comparison comparison = compared({h200, k40}, {h200, k40});
  EXPECT_EQ(comparison.pairs.size(), 2U);
  EXPECT_FALSE(comparison.has_other_places);
  EXPECT_TRUE(comparison.regressions.empty());
}

TEST(Compare, ParsesThresholds) {
  EXPECT_DOUBLE_EQ(parse_percent("--threshold", "5"), 0.05);
  EXPECT_DOUBLE_EQ(parse_percent("--threshold", "7.5%"), 0.075);
  EXPECT_DOUBLE_EQ(parse_percent("--threshold", "0"), 0);
  for (const char* text : {"", "%", "x", "-1", "5x", "nan", "1e9"})
    EXPECT_THROW(parse_percent("--threshold", text), UsageError) << text;
}

TEST(Compare, ListsRegressionsFirstAndKeepsNamesWholeInNarrowTerminals) {
  const std::string long_name = "gauss_cyclic_decrement_shared";
  std::vector<Record> base, now;
  for (const std::string& method : {std::string("alpha"), std::string("beta"), long_name}) {
    for (std::int64_t n : {64, 128}) {
      const double factor = method != long_name || n == 64 ? 1 : 2;
      base.push_back(example_record(method, n, {1, 1.001, 1.002}));
      now.push_back(example_record(method, n, {factor, factor * 1.001, factor * 1.002}));
      base.back().parameters = now.back().parameters = R"({"back_substitution": "reduction", "blocks": 8})";
    }
  }
  Record paced = example_record("paced", 64, {1, 1.001, 1.002});
  paced.queue_seconds = 1;
  base.push_back(paced);
  paced = example_record("paced", 64, {1.06, 1.061, 1.062});
  paced.queue_seconds = 1.06;
  now.push_back(paced);
  Comparison comparison = compared(base, now, 0.02);
  put_regressions_first(comparison.pairs);
  EXPECT_EQ(comparison.pairs.front().identity.method, long_name);
  EXPECT_EQ(std::count_if(comparison.pairs.begin(), comparison.pairs.end(), is_listed), 1)
      << "host-bound trials are counted";
  for (const std::size_t width : {60, 80, 100}) {
    const std::string methods = render_text(method_table(comparison, Reader::person), width);
    const std::string trials =
        render_text(pair_table(comparison, Reader::person), width);  // with those that are the same
    EXPECT_EQ(methods.find("gesv/" + long_name), methods.find("gesv/")) << "the slower method first\n"
                                                                        << methods;
    for (const std::string& text : {methods, trials}) {
      EXPECT_NE(text.find("gesv/" + long_name), std::string::npos) << width << '\n' << text;
      EXPECT_NE(text.find(" BY"), std::string::npos) << "the clock of the time, in " << width << '\n' << text;
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), width) << text;
    }
  }
}

TEST(Compare, CountsOfAMethodAddUp) {
  Record failed = example_record("m", 128, {1, 1, 1});
  failed.status = "failed";
  const Record good = example_record("m", 64, {1, 1, 1});
  const auto row = render_json(method_table(compared({good, failed}, {good, failed}), Reader::program)).at(0);
  std::int64_t sum = 0;
  for (const char* name : {"same", "faster", "slower", "unclear", "host_bound", "untimed"})
    sum += row.at(name).get<std::int64_t>();
  EXPECT_EQ(row.at("trials"), 2);
  EXPECT_EQ(sum, 2);
}

TEST(Compare, TablesHaveEveryColumn) {
  const Record base = example_record("m", 64, {1, 1, 1}), now = example_record("m", 64, {2, 2, 2});
  const Comparison comparison = compared({base}, {now});
  const auto json = render_json(pair_table(comparison, Reader::program));
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0]["verdict"], "SLOWER");
  EXPECT_EQ(json[0]["speedup"], 0.5);
  EXPECT_EQ(json[0]["base_place"], "NVIDIA H200");
  EXPECT_EQ(json[0]["key"], std::string(comparison.pairs[0].identity.key));
  const std::string text = render_text(pair_table(comparison, Reader::person), any_width);
  EXPECT_EQ(text.find("H200"), std::string::npos) << "one device: no column";
  EXPECT_EQ(render_json(method_table(comparison, Reader::program))[0]["slower"], 1);
  EXPECT_TRUE(accuracy_table(comparison, Reader::program).rows.empty());
}

}  // namespace
}  // namespace gaussweep::driver
