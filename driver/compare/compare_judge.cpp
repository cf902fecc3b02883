/// Decides which trials and methods are slower or faster: estimates all of them, then decides all at once.

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "driver/compare/compare.hpp"

namespace gaussweep::driver {

namespace {

constexpr double normal_mad = 1.4826;  // sigma of a normal distribution / its median absolute deviation
constexpr std::size_t min_pairs_of_method = 3;  // minimum number of pairs for a verdict on the method
constexpr std::size_t min_pairs_for_noise = 8;
constexpr std::size_t min_methods = 5;
constexpr std::size_t min_host_bound = 4;
// Minimum fraction of the host in a time that is used to estimate the host's drift.
constexpr double min_host_fraction = 0.3;
constexpr double max_drift = 0.005;  // limit on the ln ratio that is ascribed to drift of the run
// Uncertainty of the host's drift, as ln ratio, if too few trials show it: launches take 3.1 to 4.6 us.
constexpr double unknown_drift = 0.1;
constexpr double short_seconds = 1e-4;  ///< boundary between the two classes of RunNoise

/// An estimate, and the estimates that other measurements would give.
struct Measured : Estimate {
  double first_error = 0;  ///< the error before the noise of the runs was known
  Prospects prospects;
};

/// A trial with the estimates that its times allow.
struct Judged {
  Pair* pair = nullptr;
  bool by_gpu = false, by_host = false;
  /// Of the GPU's time, or of the run's time if it is not host-bound; and of a host-bound run's time.
  Measured gpu, host;
  double host_share = 0;  ///< fraction of the host-bound run's time that is the host's
};

std::string method_of(const Pair& pair) {
  return pair.identity.problem + "/" + pair.identity.method;
}

bool is_other_gpu(const Pair& pair) {
  const auto& before = pair.base.gpus;
  return !before.empty() && !pair.now.gpus.empty() &&
         std::none_of(pair.now.gpus.begin(), pair.now.gpus.end(), [&](const std::string& gpu) {
           return std::find(before.begin(), before.end(), gpu) != before.end();
         });
}

Judged judged(Pair& pair, bool is_duet) {
  Judged result;
  result.pair = &pair;
  if (!pair.base.run.is_known() || !pair.now.run.is_known()) return result;
  const auto estimate_of = [other = is_other_gpu(pair), is_duet](const Timing& base, const Timing& now,
                                                                 const Scatter& scatter) {
    const Estimate current =
        is_duet ? estimate_duet(base, now, scatter) : estimate(base, now, scatter, other);
    return Measured{current, current.error, prospects(base, now, scatter, other, is_duet)};
  };
  if (pair.identity.backend != "cuda") {
    result.by_gpu = true;
    result.gpu = estimate_of(pair.base.run, pair.now.run, cpu_scatter);
    return result;
  }
  result.by_gpu = !pair.is_host_paced();
  if (result.by_gpu && pair.has_replays()) {
    result.gpu = estimate_of(pair.base.gpu, pair.now.gpu, gpu_scatter);
  } else if (result.by_gpu) {
    const Scatter with_launch{gpu_scatter.share, host_paced_scatter.seconds};
    result.gpu = estimate_of(pair.base.run, pair.now.run, with_launch);
  }
  if (pair.is_host_bound()) {
    result.by_host = true;
    Scatter scatter = host_paced_scatter;
    if (pair.has_replays()) {
      const double gpu_share =
          std::min(pair.base.gpu.median / pair.base.run.median, pair.now.gpu.median / pair.now.run.median);
      result.host_share = std::max(0.0, 1 - gpu_share);
      scatter = {host_bound_scatter.share * result.host_share, host_bound_scatter.seconds};
    }
    result.host = estimate_of(pair.base.run, pair.now.run, scatter);
  }
  return result;
}

/// Returns the sigma of normalised distances, at least 1; 1 if there are too few.
double raise_of(std::vector<double> distances) {
  if (distances.size() < min_pairs_for_noise) return 1;
  return std::max(1.0, normal_mad * median_of(std::move(distances)));
}

bool is_short(const Pair& pair) {
  return (pair.has_replays() ? pair.base.gpu : pair.base.run).median < short_seconds;
}

/// Measures how the trials of one backend on one place differ from the rule's expectation, and corrects their
/// estimates for it.
RunNoise noise_of(const std::vector<Judged*>& trials, bool is_duet) {
  RunNoise noise;
  noise.backend = trials.front()->pair->identity.backend;
  noise.place = trials.front()->pair->new_place;
  // In a duet drift affects both builds equally, and the rounds show each trial's scatter.
  if (is_duet) return noise;
  std::map<std::string, std::vector<const Judged*>> methods;
  std::vector<double> of_host, run_changes, short_ones, long_ones, medians;
  for (const Judged* trial : trials) {
    if (trial->by_gpu) methods[method_of(*trial->pair)].push_back(trial);
    // If the host drifts by a factor exp(x), ln of a time with a host fraction f changes by f x.
    if (trial->host_share < min_host_fraction) continue;
    of_host.push_back(trial->host.log / trial->host_share);
    run_changes.push_back(trial->host.log);
  }
  for (const auto& [method, its_trials] : methods) {
    if (its_trials.size() < min_pairs_of_method) continue;
    std::vector<double> logs;
    for (const Judged* trial : its_trials) logs.push_back(trial->gpu.log);
    const double count = static_cast<double>(logs.size());
    const double median = median_of(std::move(logs));
    medians.push_back(median);
    for (const Judged* trial : its_trials) {
      const double distance =
          std::fabs(trial->gpu.log - median) / trial->gpu.error * std::sqrt(count / (count - 1));
      (is_short(*trial->pair) ? short_ones : long_ones).push_back(distance);
    }
  }
  noise.pairs = static_cast<std::int64_t>(short_ones.size() + long_ones.size());
  noise.raise_short = raise_of(std::move(short_ones));
  noise.raise_long = raise_of(std::move(long_ones));
  if (medians.size() >= min_methods) {
    const double median = median_of(medians);
    noise.drift = std::clamp(median, -max_drift, max_drift);
    for (double& each : medians) each = std::fabs(each - median);
    noise.of_methods = normal_mad * median_of(std::move(medians));
  }
  if (of_host.size() >= min_host_bound) noise.of_host = median_of(of_host);
  std::vector<double> host_distances;
  for (const Judged* trial : trials) {
    if (trial->by_host && trial->pair->has_replays())
      host_distances.push_back(std::fabs(trial->host.log - noise.of_host * trial->host_share) /
                               trial->host.error);
  }
  const double usual_drift = run_changes.empty() ? 0 : median_of(std::move(run_changes));
  const bool is_drift_known = of_host.size() >= min_host_bound;
  noise.raise_host = raise_of(std::move(host_distances));
  for (Judged* trial : trials) {
    trial->gpu.drift = noise.drift;
    trial->gpu.error *= is_short(*trial->pair) ? noise.raise_short : noise.raise_long;
    if (!trial->by_host) continue;
    trial->host.error *= noise.raise_host;
    if (!is_drift_known) {
      trial->host.error = std::hypot(trial->host.error, unknown_drift);
    } else if (trial->pair->has_replays()) {
      trial->host.drift = noise.of_host * trial->host_share;
    } else {
      // The host's fraction of this time is unknown. Half of the usual drift is assumed, with an uncertainty
      // that includes no drift and the whole.
      trial->host.drift = usual_drift / 2;
      trial->host.error = std::hypot(trial->host.error, usual_drift / 2);
    }
  }
  return noise;
}

/// Decides about all estimates at once.
class Decision {
 public:
  Decision(const std::vector<const Estimate*>& all, double rate, double threshold)
      : threshold_(threshold), tail_(rate / static_cast<double>(std::max<std::size_t>(1, all.size()))) {
    std::vector<double> above, below;
    for (const Estimate* each : all) {
      above.push_back(student_tail(each->own() / each->error, each->degrees));
      below.push_back(student_tail(-each->own() / each->error, each->degrees));
    }
    const std::vector<bool> slower = rejected(above, rate), faster = rejected(below, rate);
    for (std::size_t i = 0; i < all.size(); ++i)
      of_[all[i]] = slower[i] ? Verdict::slower : faster[i] ? Verdict::faster : Verdict::unclear;
  }

  /// @param otherwise the verdict on a change that is not significant
  Verdict of(const Estimate& estimate, Verdict otherwise = Verdict::unclear) const {
    if (std::fabs(estimate.own()) <= std::log1p(threshold_)) return Verdict::same;
    const Verdict verdict = of_.at(&estimate);
    return verdict == Verdict::unclear ? otherwise : verdict;
  }

  /// Returns the smallest change of this estimate, taken alone, that would be significant.
  double finds(const Estimate& estimate) const { return std::max(threshold_, estimate.finds(tail_)); }

  /// Returns the change with its interval. SAME becomes UNCLEAR unless the whole interval is within the
  /// threshold. @param verdict from `of`
  Change change(const Estimate& estimate, Verdict verdict, Timed clock) const {
    Change change{verdict, clock, estimate.ratio(), estimate.low(), estimate.high(), finds(estimate)};
    const bool is_within = change.low >= 1 / (1 + threshold_) && change.high <= 1 + threshold_;
    if (verdict == Verdict::same && !is_within) change.verdict = Verdict::unclear;
    return change;
  }

 private:
  double threshold_, tail_;
  std::map<const Estimate*, Verdict> of_;
};

/// Returns the change of a time that is compared with itself.
Change no_change(Timed clock) {
  return {Verdict::same, clock, 1, 1, 1, 0};
}

/// The smallest changes that are found in the UNCLEAR trials of one backend, now and with other measurements.
struct Doubts {
  std::vector<double> finds, with_rounds, with_samples, with_duet;
  std::int64_t rounds = 1;

  void add(const Measured& measured, const Side& base, const Side& now, const Decision& decision) {
    const auto smallest_change = [&](Estimate other) {
      other.error *= measured.error / measured.first_error;
      return decision.finds(other);
    };
    finds.push_back(decision.finds(measured));
    with_rounds.push_back(smallest_change(measured.prospects.rounds));
    with_samples.push_back(smallest_change(measured.prospects.samples));
    with_duet.push_back(smallest_change(measured.prospects.duet));
    rounds = std::max(rounds, std::min(base.run.processes / base.run.runs, now.run.processes / now.run.runs));
  }

  Unclear summary(const std::string& backend) const {
    const auto [smallest, largest] = std::minmax_element(finds.begin(), finds.end());
    return {backend,
            static_cast<std::int64_t>(finds.size()),
            median_of(finds),
            *smallest,
            *largest,
            rounds,
            median_of(with_rounds),
            median_of(with_samples),
            median_of(with_duet)};
  }
};

/// Returns a regression that the recorded counts show without timing, as text: more waits, more kernels, or a
/// run that can no longer be recorded as a graph because it waits for the host.
std::string reason_of(const Pair& pair) {
  const Side &base = pair.base, &now = pair.now;
  if (!pair.is_here()) return "";
  if (base.waits >= 0 && now.waits > base.waits && base.iterations == now.iterations)
    return fmt::format("waits {} -> {}", base.waits, now.waits);
  if (base.gpu.is_known() && base.launch_bound >= 0 && now.launch_bound < 0 && now.queue > 0)
    return "waits for the host now";
  if (pair.is_host_bound() && base.kernels > 0 && now.kernels > base.kernels)
    return fmt::format("kernels {} -> {}", base.kernels, now.kernels);
  return "";
}

/// Sets a trial's verdict.
/// @return the estimate that the verdict is about; null if the trial has no times
const Measured* decide(const Judged& trial, const Decision& decision) {
  if (!trial.by_gpu && !trial.by_host) return nullptr;  // untimed
  Pair& pair = *trial.pair;
  const Timed clock = pair.has_replays() ? Timed::gpu : Timed::run;
  if (pair.is_itself) {
    pair.change = no_change(clock);
    return trial.by_gpu ? &trial.gpu : &trial.host;
  }
  Verdict gpu = Verdict::same, host = Verdict::same;
  if (trial.by_gpu) gpu = decision.of(trial.gpu);
  if (trial.by_host) host = decision.of(trial.host, Verdict::host_bound);
  const std::string reason = reason_of(pair);
  const Verdict run_verdict = trial.by_host ? host : gpu;
  if (!reason.empty() && gpu != Verdict::slower && run_verdict != Verdict::faster) {
    const Measured& measured = trial.by_host ? trial.host : trial.gpu;
    pair.change = decision.change(measured, Verdict::slower, Timed::run);
    pair.reason = reason;
    return &measured;
  }
  const bool is_about_gpu = trial.by_gpu && (gpu == Verdict::slower || host == Verdict::same ||
                                             (gpu != Verdict::same && host != Verdict::slower));
  pair.change =
      is_about_gpu ? decision.change(trial.gpu, gpu, clock) : decision.change(trial.host, host, Timed::run);
  if (pair.change.verdict == Verdict::slower) pair.reason = reason;
  return is_about_gpu ? &trial.gpu : &trial.host;
}

/// A method with the pooled estimate of its trials, if it has enough.
struct JudgedMethod {
  MethodChange method;
  std::vector<const Judged*> trials;
  Estimate pooled_estimate;
  bool is_known = false, by_gpu = false, by_host = false;
};

std::vector<JudgedMethod> methods_of(const std::vector<Judged>& trials,
                                     const std::map<std::pair<std::string, std::string>, RunNoise>& noise) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::vector<const Judged*>> all;
  for (const Judged& trial : trials) {
    const Pair& pair = *trial.pair;
    all[{method_of(pair), pair.identity.backend, pair.base_place, pair.new_place}].push_back(&trial);
  }
  std::vector<JudgedMethod> methods;
  for (const auto& [key, its_trials] : all) {
    JudgedMethod judged_method;
    std::tie(judged_method.method.method, judged_method.method.backend, judged_method.method.base_place,
             judged_method.method.new_place) = key;
    judged_method.trials = its_trials;
    std::vector<Estimate> by_gpu, by_host;
    for (const Judged* trial : its_trials) {
      if (trial->by_gpu) by_gpu.push_back(trial->gpu);
      if (trial->by_host) by_host.push_back(trial->host);
    }
    judged_method.by_gpu = by_gpu.size() >= min_pairs_of_method;
    const std::vector<Estimate>& chosen = judged_method.by_gpu || by_host.empty() ? by_gpu : by_host;
    judged_method.by_host = !judged_method.by_gpu && !by_host.empty();
    judged_method.is_known = !chosen.empty();
    if (judged_method.is_known) judged_method.pooled_estimate = pooled(chosen);
    const auto place_noise = noise.find({judged_method.method.backend, judged_method.method.new_place});
    if (place_noise != noise.end() && judged_method.method.is_here())
      judged_method.pooled_estimate.error =
          std::max(judged_method.pooled_estimate.error, place_noise->second.of_methods);
    methods.push_back(std::move(judged_method));
  }
  return methods;
}

}  // namespace

void judge_times(Comparison& comparison, const CompareRules& rules) {
  std::vector<Judged> trials;
  trials.reserve(comparison.pairs.size());
  std::map<std::pair<std::string, std::string>, std::vector<Judged*>> places;  // by backend and place
  for (Pair& pair : comparison.pairs) {
    trials.push_back(judged(pair, comparison.is_duet));
    const Judged& trial = trials.back();
    if (pair.is_here() && (trial.by_gpu || trial.by_host))
      places[{pair.identity.backend, pair.new_place}].push_back(&trials.back());
  }
  std::map<std::pair<std::string, std::string>, RunNoise> noise;
  for (const auto& [place, its_trials] : places) {
    noise[place] = noise_of(its_trials, comparison.is_duet);
    comparison.noise.push_back(noise[place]);
  }
  std::vector<JudgedMethod> methods = methods_of(trials, noise);
  std::vector<const Estimate*> all;
  for (const Judged& trial : trials) {
    if (trial.by_gpu) all.push_back(&trial.gpu);
    if (trial.by_host) all.push_back(&trial.host);
  }
  for (const JudgedMethod& method : methods) {
    if (method.is_known) all.push_back(&method.pooled_estimate);
  }
  const Decision decision(all, rules.rate, comparison.threshold);
  std::map<std::string, Doubts> doubts;  // by backend
  for (const Judged& trial : trials) {
    const Measured* measured = decide(trial, decision);
    const Pair& pair = *trial.pair;
    if (pair.change.verdict == Verdict::unclear)
      doubts[pair.identity.backend].add(*measured, pair.base, pair.now, decision);
  }
  for (const auto& [backend, its_doubts] : doubts) comparison.unclear.push_back(its_doubts.summary(backend));
  for (JudgedMethod& judged_method : methods) {
    MethodChange& method = judged_method.method;
    method.pairs = static_cast<std::int64_t>(judged_method.trials.size());
    for (const Judged* trial : judged_method.trials) ++method.counts[trial->pair->change.verdict];
    if (judged_method.is_known) {
      const Verdict otherwise = judged_method.by_host ? Verdict::host_bound : Verdict::unclear;
      const bool has_gpu =
          judged_method.by_gpu && std::all_of(judged_method.trials.begin(), judged_method.trials.end(),
                                              [](const Judged* trial) { return trial->pair->has_replays(); });
      const Timed clock = has_gpu ? Timed::gpu : Timed::run;
      const bool is_itself = std::all_of(judged_method.trials.begin(), judged_method.trials.end(),
                                         [](const Judged* trial) { return trial->pair->is_itself; });
      method.change = is_itself
                          ? no_change(clock)
                          : decision.change(judged_method.pooled_estimate,
                                            decision.of(judged_method.pooled_estimate, otherwise), clock);
    }
    comparison.methods.push_back(std::move(method));
  }
}

}  // namespace gaussweep::driver
