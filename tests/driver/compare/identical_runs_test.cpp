// Tests the verdicts of `compare` for measured and simulated runs, both unchanged and with injected changes.

#include "tests/driver/compare/identical_runs.hpp"
#include "driver/compare/compare.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;
using Runs = std::map<std::string, io::Results>;

const Runs& measured() {
  static const Runs runs = identical_runs();
  return runs;
}

/// Returns the records of several runs as one set.
io::Results merged_runs(const std::vector<std::string>& names) {
  io::Results all;
  for (const std::string& name : names) {
    const io::Results& run = measured().at(name);
    all.records.insert(all.records.end(), run.records.begin(), run.records.end());
  }
  return all;
}

struct AlarmCount {
  int pairs = 0, alarms = 0, false_verdicts = 0;
  std::string words;
  void add(const std::string& what, const Comparison& c) {
    ++pairs;
    alarms += !c.regressions.empty();
    for (const Pair& pair : c.pairs)
      false_verdicts += pair.change.verdict == Verdict::slower || pair.change.verdict == Verdict::faster;
    for (const std::string& each : c.regressions) words += what + ": " + each + "\n";
  }
};

// Nothing changed between these runs, so every FASTER or SLOWER is false. The constants of the rule were
// fitted to the runs with odd numbers.
TEST(IdenticalRuns, PairsOnOneGpuRaiseNoAlarm) {
  AlarmCount tally;
  const std::vector<std::vector<std::string>> groups{
      {"a1", "a2", "a3"}, {"b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8"}, {"r1", "r2", "r3", "r4"}};
  for (const auto& group : groups) {
    for (const std::string& base : group) {
      for (const std::string& now : group) {
        if (base == now) continue;
        tally.add(base + " " + now, compare(measured().at(base), measured().at(now), {}));
      }
    }
  }
  EXPECT_EQ(tally.pairs, 74) << "37 pairs, either way";
  EXPECT_LE(tally.alarms, 0) << tally.words;
  EXPECT_LE(tally.false_verdicts, 0) << tally.words;
}

// SAME means that the whole interval of the change is within the threshold, not only its estimate.
TEST(IdenticalRuns, SameHasItsIntervalWithinTheThreshold) {
  std::map<Verdict, int> counts;
  for (const auto& [base, base_run] : measured()) {
    for (const auto& [now, new_run] : measured()) {
      if (base.front() != now.front() || base >= now) continue;
      const Comparison c = compare(base_run, new_run, {});
      for (const Pair& pair : c.pairs) {
        ++counts[pair.change.verdict];
        if (pair.change.verdict != Verdict::same) continue;
        EXPECT_GE(pair.change.low, 1 / 1.02);
        EXPECT_LE(pair.change.high, 1.02);
      }
      for (const MethodChange& method : c.methods) {
        if (method.change.verdict != Verdict::same) continue;
        EXPECT_LE(method.change.high, 1.02) << method.method;
      }
    }
  }
  for (const auto& [verdict, count] : counts) std::printf("%d %s\n", count, to_string(verdict));
  EXPECT_GT(counts[Verdict::same], 0);
}

TEST(IdenticalRuns, AnotherGpuOfTheSameModelRaisesNoAlarm) {
  AlarmCount tally;
  for (const char* a : {"a1", "a2", "a3"}) {
    for (const char* b : {"b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8"}) {
      tally.add(std::string(a) + " " + b, compare(measured().at(a), measured().at(b), {}));
      tally.add(std::string(b) + " " + a, compare(measured().at(b), measured().at(a), {}));
    }
  }
  EXPECT_EQ(tally.pairs, 48);
  EXPECT_LE(tally.alarms, 0) << tally.words;
}

TEST(IdenticalRuns, SeveralBasesRaiseNoAlarm) {
  AlarmCount tally;
  const std::vector<std::string> all{"b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8"};
  for (const std::string& now : all) {
    for (const std::size_t count : {2U, 3U, 7U}) {
      std::vector<std::string> bases;
      for (std::size_t i = 0; bases.size() < count; ++i) {
        const std::string& name = all[(i + static_cast<std::size_t>(now[1])) % all.size()];
        if (name != now) bases.push_back(name);
      }
      tally.add(std::to_string(count) + " bases, " + now,
                compare(merged_runs(bases), measured().at(now), {}));
    }
  }
  EXPECT_EQ(tally.pairs, 24);
  EXPECT_LE(tally.alarms, 0) << tally.words;
}

/// Simulates runs with any number of trials, from the measured times of random worker processes on the second
/// GPU.
class SimulatedRuns {
 public:
  explicit SimulatedRuns(unsigned seed) : bits_(seed) {
    for (const auto& [name, run] : measured()) {
      for (const Record& r : run.records) {
        if (name.front() != 'a')
          trials_[r.problem + "/" + r.method][r.precision + std::to_string(r.n)].push_back(&r);
      }
    }
  }

  /// Returns a run of `count` trials. Per method, the times of all sizes come from the same random process.
  io::Results run(std::size_t count, const std::string& name) {
    io::Results results;
    for (std::int64_t copy = 0; results.records.size() < count; ++copy) {
      for (const auto& [method, sizes] : trials_) {
        const std::size_t process = bits_();
        for (const auto& [size, records] : sizes) {
          if (results.records.size() == count) return results;
          Record r = *records[process % records.size()];
          r.run_id = name;
          r.round = 1;
          r.matrix_seed = copy;
          results.records.push_back(std::move(r));
        }
      }
    }
    return results;
  }

 private:
  std::mt19937_64 bits_;
  std::map<std::string, std::map<std::string, std::vector<const Record*>>> trials_;
};

TEST(DrawnRuns, FalseAlarmRateHoldsForAnyNumberOfTrials) {
  for (const auto& [trials, pairs] : std::map<std::size_t, int>{{96, 200}, {400, 100}, {2000, 30}}) {
    SimulatedRuns simulated(7);
    AlarmCount tally;
    for (int i = 0; i < pairs; ++i)
      tally.add("", compare(simulated.run(trials, "one"), simulated.run(trials, "two"), {}));
    std::printf("%zu trials: %d of %d pairs with an alarm, %d trials FASTER or SLOWER\n", trials,
                tally.alarms, pairs, tally.false_verdicts);
    EXPECT_LE(tally.alarms, pairs / 50) << trials << " trials\n" << tally.words;
  }
}

// A comparison reports the smallest detectable change. A change of 1.15 times that size must be found, a
// change of 0.85 times that size must not.
TEST(DrawnRuns, FindsAChangeOfTheReportedSize) {
  SimulatedRuns simulated(5);
  const io::Results base = simulated.run(96, "one"), now = simulated.run(96, "two");
  const Comparison before = compare(base, now, {});
  int tried = 0;
  for (std::size_t i = 0; i < before.pairs.size(); i += 7) {
    const Pair& pair = before.pairs[i];
    if (pair.is_host_bound() || pair.change.verdict != Verdict::same) continue;
    const double to_drift = std::exp(before.noise.front().drift) / pair.change.ratio;
    const auto changed = [&](double share) {
      io::Results other = now;
      for (Record& r : other.records) {
        if (r.method == pair.identity.method && r.n == pair.identity.n &&
            r.precision == pair.identity.precision)
          slow_down(r, to_drift * (1 + share));
      }
      const Comparison after = compare(base, other, {});
      return after.pairs[i].change.verdict;
    };
    ++tried;
    EXPECT_EQ(changed(1.15 * pair.change.detectable), Verdict::slower) << pair.identity.method;
    EXPECT_NE(changed(0.85 * pair.change.detectable), Verdict::slower) << pair.identity.method;
  }
  EXPECT_GT(tried, 3);
}

TEST(DrawnRuns, FindsASlowedMethod) {
  const std::vector<std::string> methods{"recursive", "blocked_simultaneous", "gets", "shared"};
  for (const int nights : {1, 7}) {
    for (const auto& [factor, least] : std::map<double, double>{{1.03, 0}, {1.05, 0.95}, {1.1, 1}}) {
      SimulatedRuns simulated(11);
      int found = 0, pairs = 0, slower = 0, trials = 0;
      for (int i = 0; i < 40; ++i) {
        io::Results base, now = simulated.run(96, "now");
        for (int night = 0; night < nights; ++night) {
          const io::Results more = simulated.run(96, "night " + std::to_string(night));
          base.records.insert(base.records.end(), more.records.begin(), more.records.end());
        }
        const std::string& method = methods[static_cast<std::size_t>(i) % methods.size()];
        for (Record& r : now.records) {
          if (r.method == method) slow_down(r, factor);
        }
        const Comparison c = compare(base, now, {});
        ++pairs;
        found += !c.regressions.empty();
        for (const Pair& pair : c.pairs) {
          if (pair.identity.method != method || pair.base.run.median < 1e-4) continue;
          ++trials;
          slower += pair.change.verdict == Verdict::slower;
        }
      }
      std::printf("%d nights, %.2f: %d of %d pairs, %d of %d trials\n", nights, factor, found, pairs, slower,
                  trials);
      EXPECT_GE(found, least * pairs) << factor << " against " << nights;
    }
  }
}

}  // namespace
}  // namespace gaussweep::driver
