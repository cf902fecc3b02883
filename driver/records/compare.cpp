#include "driver/records/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "driver/base/words.hpp"
#include "driver/records/statistics.hpp"
#include "driver/records/summary.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {

namespace {

using io::Record;

constexpr double standard_errors = 3;  // that a change must exceed
constexpr double normal_mad = 1.4826;  // sigma of a normal distribution over its median absolute deviation
constexpr std::size_t least_of_method = 3;  // pairs whose median is a method's
constexpr std::size_t least_for_noise = 8;
constexpr std::size_t least_methods = 5;
/// Seconds by which the way of a launch to the GPU differs from process to process (an H200; sigma).
constexpr double launch_sigma = 2e-6;
constexpr double notable_accuracy = 10;  // a factor in the residual ratio worth telling

// All records of one trial on one place in one set.
struct Side {
  std::vector<const Record*> records;
  Timing timing;
  std::string status;
  double ratio = Record::unknown;
  Timing replay;
  double clock = Record::unknown, joules = Record::unknown, queue = Record::unknown;
};

using Places = std::map<std::string, Side>;
using Trials = std::map<std::string, Places>;

/// Rounds, where there are enough of them to tell how they scatter.
std::int64_t independent_of(const std::vector<const Record*>& records) {
  constexpr std::size_t least_rounds = 3;
  std::set<std::int64_t> rounds;
  for (const Record* record : records) rounds.insert(record->round);
  return rounds.size() < least_rounds ? 0 : static_cast<std::int64_t>(rounds.size());
}

/// Median of what is known of `values`.
double median_of_known(std::vector<double> values) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); }),
               values.end());
  return summarise(std::move(values)).median;
}

/// What the records say besides the samples' times.
void summarise_readings(Side& side) {
  std::vector<double> clocks, joules, queues, q1, median, q3;
  std::int64_t samples = 0;
  for (const Record* record : side.records) {
    for (const io::Sample& sample : record->sample_list) clocks.push_back(sample.clock_mhz);
    if (record->sample_list.empty()) clocks.push_back(record->sm_clock_mhz);
    joules.push_back(record->energy_joules);
    queues.push_back(record->queue_seconds);
    q1.push_back(record->replay_q1);
    median.push_back(record->replay_median);
    q3.push_back(record->replay_q3);
    if (record->replay_median > 0) samples += record->samples;
  }
  side.clock = median_of_known(std::move(clocks));
  side.joules = median_of_known(std::move(joules));
  side.queue = median_of_known(std::move(queues));
  side.replay = {median_of_known(std::move(q1)), median_of_known(std::move(median)),
                 median_of_known(std::move(q3)), samples, 0};
}

void summarise_side(Side& side) {
  summarise_readings(side);
  std::vector<double> samples;
  for (const Record* record : side.records) {
    for (const io::Sample& sample : record->sample_list) samples.push_back(sample.seconds);
    side.ratio = std::fmax(side.ratio, record->residual_ratio);
    if (side.status.empty() || status_severity(record->status) > status_severity(side.status)) {
      side.status = record->status;
    }
  }
  if (!samples.empty()) {
    const Statistics s = summarise(std::move(samples));
    side.timing = {s.q1, s.median, s.q3, static_cast<std::int64_t>(s.count), independent_of(side.records)};
    return;
  }
  // An older file may have quartiles, but no samples: take the record with the most.
  for (const Record* record : side.records) {
    if (record->samples > side.timing.samples) {
      side.timing = {record->seconds_q1, record->seconds_median, record->seconds_q3, record->samples};
    }
  }
}

Trials trials_of(const io::Results& results) {
  std::map<std::string, std::string> cpu_of_host;
  for (const io::HostRow& row : results.hosts) cpu_of_host[row.host] = row.cpu;
  Trials trials;
  for (const Record& record : results.records) {
    std::string place = record.gpu_name;
    if (place.empty()) {
      const auto cpu = cpu_of_host.find(record.host);
      if (cpu != cpu_of_host.end() && record.backend != "cuda") place = cpu->second;
    }
    trials[trial_identity(record)][place].records.push_back(&record);
  }
  for (auto& [key, places] : trials) {
    for (auto& [place, side] : places) summarise_side(side);
  }
  return trials;
}

void compare_accuracy(Pair& pair) {
  if (pair.base_status != pair.new_status) {
    pair.accuracy = fmt::format("{} -> {}", pair.base_status, pair.new_status);
    const bool was_good = pair.base_status == io::Status::pass || pair.base_status == io::Status::suspect;
    pair.is_worse = was_good && pair.new_status != io::Status::skipped &&
                    status_severity(pair.new_status) > status_severity(pair.base_status);
    return;
  }
  const double factor = pair.new_ratio / pair.base_ratio;
  // Ratios far below the tolerance are rounding's luck.
  const bool matters = std::fmax(pair.new_ratio, pair.base_ratio) > 0.01 * pair.identity.tolerance;
  if (matters && (factor > notable_accuracy || factor < 1 / notable_accuracy)) {
    pair.accuracy = fmt::format("residual ratio {:.3g} -> {:.3g}", pair.base_ratio, pair.new_ratio);
  }
}

/// Launch-bound runs are judged by what the GPU needs. Where that is the same and the whole run's time is
/// not, the host queued faster or slower.
Change judge_pair(const Pair& pair, double threshold, const RunNoise& noise) {
  const double launch =
      pair.identity.backend == "cuda" ? std::sqrt(2.0) * launch_sigma / pair.base.median : 0;
  Change whole = judge_change(pair.base, pair.now, threshold, std::hypot(noise.sigma, launch));
  if (whole.verdict == Verdict::untimed) return whole;
  if (pair.is_host_paced() && whole.verdict != Verdict::same &&
      std::fabs(std::log(whole.ratio)) <= standard_errors * noise.of_host) {
    whole.verdict = Verdict::launches;
  }
  if (!pair.has_replays()) return whole;
  Change gpu = judge_change(pair.base_replay, pair.new_replay, threshold, noise.sigma);
  if (gpu.verdict != Verdict::same) return gpu;
  if (whole.verdict == Verdict::same) return whole;
  gpu = whole;
  gpu.verdict = Verdict::launches;
  return gpu;
}

double ratio_judged(const Pair& pair) {
  return pair.new_judged().median / pair.base_judged().median;
}

Pair make_pair(const std::string& base_place, const Side& base, const std::string& new_place, const Side& now,
               double threshold) {
  Pair pair;
  pair.identity = *now.records.front();
  pair.identity.sample_list.clear();
  pair.identity.stages.clear();
  pair.identity.history.clear();
  pair.base_place = base_place;
  pair.new_place = new_place;
  pair.base = base.timing;
  pair.now = now.timing;
  pair.base_replay = base.replay;
  pair.new_replay = now.replay;
  pair.base_clock = base.clock;
  pair.new_clock = now.clock;
  pair.base_joules = base.joules;
  pair.new_joules = now.joules;
  pair.base_queue = base.queue;
  pair.new_queue = now.queue;
  pair.change = judge_pair(pair, threshold, {});
  pair.base_status = base.status;
  pair.new_status = now.status;
  pair.base_ratio = base.ratio;
  pair.new_ratio = now.ratio;
  compare_accuracy(pair);
  return pair;
}

// A trial that never reached a device (skipped, crashed at its start) has no place, and belongs to any.
bool is_same_place(const std::string& a, const std::string& b) {
  return a == b || a.empty() || b.empty();
}

void add_pairs(Comparison& result, const Places& base, const Places& now, double threshold) {
  bool has_common = false;
  for (const auto& [base_place, base_side] : base) {
    for (const auto& [new_place, new_side] : now) {
      has_common = has_common || is_same_place(base_place, new_place);
    }
  }
  for (const auto& [base_place, base_side] : base) {
    for (const auto& [new_place, new_side] : now) {
      if (has_common && !is_same_place(base_place, new_place)) continue;
      result.pairs.push_back(make_pair(base_place, base_side, new_place, new_side, threshold));
    }
  }
}

// Standard error of ln r by the scatter of the samples.
double error_within(const Timing& base, const Timing& now) {
  const auto sigma_of = [](const Timing& t) {
    return relative_sigma(t.q1, t.median, t.q3, static_cast<std::size_t>(t.samples));
  };
  const auto count_of = [](const Timing& t) {
    return static_cast<double>(t.independent > 0 ? t.independent : t.samples);
  };
  const double base_sigma = sigma_of(base), new_sigma = sigma_of(now);
  return median_error *
         std::sqrt(base_sigma * base_sigma / count_of(base) + new_sigma * new_sigma / count_of(now));
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

// Of the distances from the middle, as a sigma.
double scatter_of(const std::vector<double>& values) {
  const double middle = median_of(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::fabs(value - middle));
  return normal_mad * median_of(std::move(distances));
}

// How far the host's launches drifted between two sets, from pairs on one place.
double host_drift(const std::vector<const Pair*>& pairs) {
  constexpr std::size_t least = 4;
  constexpr double assumed = 0.1;  // seen on a quiet H200: 3.1 to 4.6 us a launch, over minutes
  std::vector<double> squares;
  bool any_paced = false;
  for (const Pair* pair : pairs) {
    any_paced = any_paced || pair->is_host_paced();
    if (!pair->has_replays() || pair->change.verdict == Verdict::slower ||
        pair->change.verdict == Verdict::faster)
      continue;
    const double log = std::log(pair->now.median / pair->base.median);
    squares.push_back(log * log);
  }
  if (!any_paced) return 0;
  if (squares.size() < least) return assumed;
  double sum = 0;
  for (const double square : squares) sum += square;
  return std::sqrt(sum / static_cast<double>(squares.size()));
}

// Run to run noise, by what was measured on the same place in both sets.
std::vector<RunNoise> noise_of(const std::vector<Pair>& pairs) {
  using Group = std::pair<std::string, std::string>;  // backend, place
  std::map<Group, std::map<std::string, std::vector<const Pair*>>> told;
  for (const Pair& pair : pairs) {
    if (pair.change.verdict == Verdict::untimed || pair.base_place != pair.new_place) continue;
    const Record& r = pair.identity;
    told[{r.backend, pair.new_place}][r.problem + "/" + r.method].push_back(&pair);
  }
  std::vector<RunNoise> all;
  for (const auto& [group, methods] : told) {
    std::vector<double> deviations, within, middles;
    std::vector<const Pair*> everything;
    for (const auto& [method, its_pairs] : methods) {
      everything.insert(everything.end(), its_pairs.begin(), its_pairs.end());
      if (its_pairs.size() < least_of_method || its_pairs.front()->is_host_paced()) continue;
      std::vector<double> logs;
      for (const Pair* pair : its_pairs) {
        logs.push_back(std::log(ratio_judged(*pair)));
        within.push_back(error_within(pair->base_judged(), pair->new_judged()));
      }
      middles.push_back(median_of(logs));
      for (const double log : logs) deviations.push_back(std::fabs(log - middles.back()));
    }
    RunNoise noise{group.first, group.second, static_cast<std::int64_t>(deviations.size()), 0, 0, 0};
    if (deviations.size() >= least_for_noise) {
      const double seen = normal_mad * median_of(std::move(deviations)), own = median_of(std::move(within));
      noise.sigma = std::sqrt(std::max(0.0, seen * seen - own * own));
    }
    if (middles.size() >= least_methods) noise.of_methods = scatter_of(middles);
    noise.of_host = host_drift(everything);
    all.push_back(std::move(noise));
  }
  return all;
}

RunNoise noise_between(const Comparison& result, const std::string& backend, const std::string& base_place,
                       const std::string& new_place) {
  for (const RunNoise& noise : result.noise) {
    if (noise.backend == backend && noise.place == base_place && noise.place == new_place) return noise;
  }
  return {};
}

void judge_methods(Comparison& result, double threshold) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::vector<const Pair*>> all;
  for (const Pair& pair : result.pairs) {
    const Record& r = pair.identity;
    all[{r.problem + "/" + r.method, r.backend, pair.base_place, pair.new_place}].push_back(&pair);
  }
  for (const auto& [key, pairs] : all) {
    MethodChange method;
    std::tie(method.method, method.backend, method.base_place, method.new_place) = key;
    std::vector<double> ratios;
    for (const Pair* pair : pairs) {
      ++method.pairs;
      method.same += pair->change.verdict == Verdict::same;
      method.faster += pair->change.verdict == Verdict::faster;
      method.slower += pair->change.verdict == Verdict::slower;
      method.unclear += pair->change.verdict == Verdict::unclear;
      method.launches += pair->change.verdict == Verdict::launches;
      if (pair->change.verdict != Verdict::untimed) ratios.push_back(ratio_judged(*pair));
    }
    const Statistics s = summarise(std::move(ratios));
    // The number 1, known exactly: as many samples as there are, without spread.
    const Timing one{1, 1, 1, std::max<std::int64_t>(3, static_cast<std::int64_t>(s.count))};
    const RunNoise noise = noise_between(result, method.backend, method.base_place, method.new_place);
    const bool paced =
        std::any_of(pairs.begin(), pairs.end(), [](const Pair* p) { return p->is_host_paced(); });
    method.change = judge_change(one, {s.q1, s.median, s.q3, static_cast<std::int64_t>(s.count)}, threshold,
                                 paced ? std::hypot(noise.of_methods, noise.of_host) : noise.of_methods);
    result.methods.push_back(std::move(method));
  }
}

// Pairs of one series, by n. Only clear verdicts count; where two clear neighbours disagree, one overtakes
// the other between them, at the size where ln ratio, linear in ln n, is zero.
std::vector<Crossover> crossovers_of(const std::string& series, std::vector<const Pair*> pairs) {
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair* a, const Pair* b) { return a->identity.n < b->identity.n; });
  std::vector<Crossover> found;
  Crossover crossover;
  crossover.series = series;
  crossover.base_place = pairs.front()->base_place;
  crossover.new_place = pairs.front()->new_place;
  const Pair* last = nullptr;
  for (const Pair* pair : pairs) {
    const Verdict verdict = pair->change.verdict;
    if (verdict != Verdict::faster && verdict != Verdict::slower) continue;
    if (last != nullptr && last->change.verdict != verdict && pair->identity.n > last->identity.n) {
      const double n1 = std::log(static_cast<double>(last->identity.n));
      const double n2 = std::log(static_cast<double>(pair->identity.n));
      const double r1 = std::log(last->change.ratio), r2 = std::log(pair->change.ratio);
      crossover.n = std::exp(n1 + (n2 - n1) * r1 / (r1 - r2));
      crossover.finding = fmt::format("{} overtakes between n = {} and {}, near {:.0f}",
                                      verdict == Verdict::faster ? crossover.new_place : crossover.base_place,
                                      last->identity.n, pair->identity.n, crossover.n);
      found.push_back(crossover);
    }
    last = pair;
  }
  if (!found.empty()) return found;
  crossover.finding =
      last == nullptr
          ? "no clear difference at any size"
          : fmt::format("{} is faster wherever the difference is clear",
                        last->change.verdict == Verdict::faster ? crossover.new_place : crossover.base_place);
  return {crossover};
}

void find_crossovers(Comparison& result) {
  std::map<std::string, std::vector<const Pair*>> series;
  std::vector<const Record*> all;
  for (const Pair& pair : result.pairs) all.push_back(&pair.identity);
  const MatrixNames matrices(all);
  const Varying varying(all);
  for (const Pair& pair : result.pairs) {
    if (is_same_place(pair.base_place, pair.new_place) || pair.change.verdict == Verdict::untimed) continue;
    const Record& r = pair.identity;
    std::string name = fmt::format("{}/{} {} {} {}", r.problem, r.method, r.precision, matrices.of(r),
                                   settings_text(r.parameters));
    if (r.backend != "cuda") name += " " + r.backend;
    if (r.m != r.n || r.k != r.n) name += fmt::format(" m={} k={}", r.m, r.k);
    if (r.nrhs > 1) name += fmt::format(" nrhs={}", r.nrhs);
    if (varying.uplo.count(r.problem) > 0) name += " uplo=" + r.uplo;
    if (varying.seed) name += fmt::format(" seed={}", r.matrix_seed);
    series[name + '\n' + pair.base_place + '\n' + pair.new_place].push_back(&pair);
  }
  for (auto& [key, pairs] : series) {
    for (Crossover& crossover : crossovers_of(key.substr(0, key.find('\n')), std::move(pairs))) {
      result.crossovers.push_back(std::move(crossover));
    }
  }
}

void find_other_clocks(Comparison& result) {
  double furthest = 0;
  for (const Pair& pair : result.pairs) {
    const double apart = std::fabs(std::log(pair.new_clock / pair.base_clock));
    if (!is_same_place(pair.base_place, pair.new_place) || !(apart > std::log1p(notable_clock))) continue;
    ++result.other_clocks;
    if (apart <= furthest) continue;
    furthest = apart;
    result.furthest_base_clock = pair.base_clock;
    result.furthest_new_clock = pair.new_clock;
  }
}

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      return "SAME";
    case Verdict::faster:
      return "FASTER";
    case Verdict::slower:
      return "SLOWER";
    case Verdict::unclear:
      return "UNCLEAR";
    case Verdict::launches:
      return "LAUNCHES";
    case Verdict::untimed:
      break;
  }
  return "UNTIMED";
}

Change judge_change(const Timing& base, const Timing& now, double threshold, double noise) {
  Change change;
  if (!(base.median > 0) || !(now.median > 0) || base.samples < 1 || now.samples < 1) return change;
  change.ratio = now.median / base.median;
  change.low = now.q1 / base.q3;
  change.high = now.q3 / base.q1;
  const double size = std::fabs(std::log(change.ratio));
  if (size <= std::log1p(threshold)) {
    change.verdict = Verdict::same;
    return change;
  }
  const double error = std::hypot(error_within(base, now), noise);
  const bool is_apart = now.q1 > base.q3 || now.q3 < base.q1;
  if (!is_apart || size <= standard_errors * error) {
    change.verdict = Verdict::unclear;
  } else {
    change.verdict = change.ratio > 1 ? Verdict::slower : Verdict::faster;
  }
  return change;
}

Comparison compare(const io::Results& base, const io::Results& now, double threshold) {
  const Trials base_trials = trials_of(base), new_trials = trials_of(now);
  Comparison result;
  for (const auto& [key, places] : base_trials) {
    const auto match = new_trials.find(key);
    if (match == new_trials.end()) {
      ++result.only_base;
    } else {
      add_pairs(result, places, match->second, threshold);
    }
  }
  for (const auto& [key, places] : new_trials) result.only_new += base_trials.count(key) == 0;
  // From here on by method and size, as people read.
  std::stable_sort(result.pairs.begin(), result.pairs.end(), [](const Pair& a, const Pair& b) {
    const Record &x = a.identity, &y = b.identity;
    return std::tie(x.problem, x.method, x.precision, x.parameters, x.n, x.m, x.k, x.nrhs, x.uplo,
                    matrix_label(x), x.matrix_parameters, x.matrix_seed) <
           std::tie(y.problem, y.method, y.precision, y.parameters, y.n, y.m, y.k, y.nrhs, y.uplo,
                    matrix_label(y), y.matrix_parameters, y.matrix_seed);
  });
  result.noise = noise_of(result.pairs);
  for (Pair& pair : result.pairs) {
    const RunNoise noise = noise_between(result, pair.identity.backend, pair.base_place, pair.new_place);
    pair.change = judge_pair(pair, threshold, noise);
  }
  find_other_clocks(result);
  judge_methods(result, threshold);
  find_crossovers(result);
  for (const Pair& pair : result.pairs) {
    const bool is_here = is_same_place(pair.base_place, pair.new_place);
    result.across = result.across || !is_here;
    result.regression =
        result.regression || (is_here && (pair.change.verdict == Verdict::slower || pair.is_worse));
  }
  for (const MethodChange& method : result.methods) {
    result.regression = result.regression || (is_same_place(method.base_place, method.new_place) &&
                                              method.change.verdict == Verdict::slower);
  }
  return result;
}

}  // namespace gaussweep::driver
