// Measures the error of the estimated time left for finished sweeps. Feeds their records to the estimator in
// order of their end times, and queries it after 10, 25, 50, 75 and 90 % of the trials.
//
// By hand: ninja -C build replay_estimates && build/tests/replay_estimates RUN…

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "driver/plan/time_left.hpp"
#include "driver/results/loading.hpp"
#include "driver/system/clock.hpp"

namespace gaussweep::driver {
namespace {

/// Returns a trial with the fields, from a record, that determine how long it runs.
Trial trial_of(const io::Record& r, const Method& method, Precision precision, Backend backend) {
  Trial trial;
  trial.problem = method.problem;
  trial.method = r.method;
  trial.precision = precision;
  trial.backend = backend;
  trial.shape = {r.m, r.n, r.k, r.nrhs, r.uplo == "upper" ? Uplo::upper : Uplo::lower};
  trial.parameters = defaults_of(method);
  trial.sampling.min_samples = trial.sampling.max_samples = r.samples;
  trial.sampling.warmup = r.warmup;
  trial.inner_repeats = r.inner_repeats;
  trial.energy_seconds = std::isfinite(r.energy_joules) ? 1 : 0;
  trial.stages = r.stages.empty() ? Stages::never : Stages::always;
  return trial;
}

void replay(const char* path, const Registry& registry) {
  std::vector<io::Record> records = load(path, false).results.records;
  const auto end = [](const io::Record& r) { return parse_time(r.end_time); };
  records.erase(std::remove_if(records.begin(), records.end(),
                               [&](const io::Record& r) { return !(end(r) >= r.prepare_began); }),
                records.end());
  std::stable_sort(records.begin(), records.end(),
                   [&](const io::Record& a, const io::Record& b) { return end(a) < end(b); });
  std::vector<Trial> trials;
  std::vector<io::Record> known;
  std::set<std::int64_t> ranks;
  for (const io::Record& r : records) {
    const auto problem = from_string<Problem>(r.problem);
    const auto precision = from_string<Precision>(r.precision);
    const auto backend = from_string<Backend>(r.backend);
    const Method* method = problem ? registry.find(*problem, r.method) : nullptr;
    if (method == nullptr || !precision || !backend) continue;
    trials.push_back(trial_of(r, *method, *precision, *backend));
    known.push_back(r);
    ranks.insert(r.rank);
  }
  fmt::print("{}: {} trials on {} ranks\n", path, known.size(), ranks.size());
  if (known.empty()) return;
  CostModel model(registry);
  TimeLeft left(model, registry, trials);
  const double last = end(known.back());
  std::vector<int> percentages{90, 75, 50, 25, 10};
  for (std::size_t i = 0; i < known.size() && !percentages.empty(); ++i) {
    model.learn(known[i]);
    left.done(i, known[i]);
    if (100 * (i + 1) < known.size() * static_cast<std::size_t>(percentages.back())) continue;
    const double truth = last - end(known[i]);
    const std::optional<TimeRange> estimate = left.seconds(static_cast<double>(ranks.size()));
    fmt::print("  {} %: {:8.1f} s left, ", percentages.back(), truth);
    if (estimate) {
      fmt::print("estimated {:.1f} to {:.1f}, likely {:.1f} ({:+.0f} %){}\n", estimate->low, estimate->high,
                 estimate->likely, 100 * (estimate->likely / truth - 1),
                 estimate->low <= truth && truth <= estimate->high ? "" : ", wrong range");
    } else {
      fmt::print("no estimate\n");
    }
    percentages.pop_back();
  }
}

}  // namespace
}  // namespace gaussweep::driver

int main(int count, char** paths) {
  const gaussweep::Registry registry = gaussweep::builtin_registry();
  for (int i = 1; i < count; ++i) gaussweep::driver::replay(paths[i], registry);
  return count > 1 ? 0 : 2;
}
