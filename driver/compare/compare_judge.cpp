/// Decides which trials and methods are slower or faster. All changes are estimated first. Then all tests are
/// decided together, to limit the rate of false findings.
///
/// - Replay: the work of a run, replayed as a CUDA graph. Its time is the GPU's time without launches.
/// - Host-bound run: it takes notably longer than its replay.
/// - Host-paced run: it has no replay, and the host needs at least half of the run's time to queue the
///   kernels. Such a run counts as host-bound, too.
/// - Drift: a change that all trials of a run have in common.
/// - Duet: a run in which two builds alternate on one GPU.

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <tuple>

#include "driver/base/lookup.hpp"
#include "driver/compare/compare.hpp"

namespace gaussweep::driver {
namespace {

constexpr double normal_mad = 1.4826;  // converts a median absolute deviation to sigma (normal distribution)
constexpr std::size_t min_pairs_of_method = 3;  // minimum number of pairs for a verdict on the method
constexpr std::size_t min_pairs_for_noise = 8;  // minimum number of trials for a run's scatter
constexpr std::size_t min_methods = 5;          // minimum number of methods for a run's drift
constexpr std::size_t min_host_bound = 4;       // minimum number of trials for the host's drift
// The host's drift is estimated only from times in which the host's part is at least this fraction.
constexpr double min_host_fraction = 0.3;
constexpr double max_drift = 0.005;  // largest |ln ratio| that counts as drift of the run
// Uncertainty of the host's drift, as ln ratio, if too few trials show it. Between measured runs the time of
// a launch varied from 3.1 to 4.6 us.
constexpr double unknown_drift = 0.1;
// seconds; RunNoise has one scatter factor for shorter times and one for longer
constexpr double short_seconds = 1e-4;

/// An estimate from the recorded times, with the estimates that other measurements would give.
struct MeasuredEstimate : Estimate {
  double uncorrected_error = 0;  ///< the error before the correction for the noise of the runs (`correct`)
  ExpectedEstimates expected;
};

/// The estimates for one trial. Which ones exist depends on its recorded times.
struct TrialEstimates {
  Pair* pair = nullptr;
  bool has_gpu = false, has_host = false;  ///< true if `gpu`, or `host`, is set
  /// Estimate from the replays' times. Without replays, and on the CPU, it is from the runs' times.
  MeasuredEstimate gpu;
  MeasuredEstimate host;  ///< estimate from the times of host-bound runs
  double host_share = 0;  ///< the host's fraction of a host-bound run's time; 0 if it is unknown
};

std::string method_of(const Pair& pair) {
  return pair.identity.problem + "/" + pair.identity.method;
}

/// Returns true if base and new ran on different GPUs.
bool is_other_gpu(const Pair& pair) {
  const auto& before = pair.base.gpus;
  return !before.empty() && !pair.now.gpus.empty() &&
         std::none_of(pair.now.gpus.begin(), pair.now.gpus.end(), [&](const std::string& gpu) {
           return std::find(before.begin(), before.end(), gpu) != before.end();
         });
}

/// Estimates the changes of a trial's GPU time and of its host-bound time, if both sets have these times.
TrialEstimates estimates_of(Pair& pair, bool is_duet) {
  TrialEstimates result;
  result.pair = &pair;
  if (!pair.base.run.is_known() || !pair.now.run.is_known() || pair.became_wrong()) return result;
  const auto estimate_of = [is_other = is_other_gpu(pair), is_duet](const Timing& base, const Timing& now,
                                                                    const Scatter& scatter) {
    const Estimate current =
        is_duet ? estimate_duet(base, now, scatter) : estimate(base, now, scatter, is_other);
    return MeasuredEstimate{current, current.error,
                            expected_estimates(base, now, scatter, is_other, is_duet)};
  };
  if (pair.identity.backend != "cuda") {
    result.has_gpu = true;
    result.gpu = estimate_of(pair.base.run, pair.now.run, cpu_scatter);
    return result;
  }
  result.has_gpu = !pair.is_host_paced();
  if (result.has_gpu && pair.has_replays()) {
    result.gpu = estimate_of(pair.base.gpu, pair.now.gpu, gpu_scatter);
  } else if (result.has_gpu) {
    // Without a replay, the time includes the host's launches.
    const Scatter with_launch{gpu_scatter.fraction, host_paced_scatter.seconds};
    result.gpu = estimate_of(pair.base.run, pair.now.run, with_launch);
  }
  if (pair.is_host_bound()) {
    result.has_host = true;
    Scatter scatter = host_paced_scatter;
    if (pair.has_replays()) {
      const double gpu_share =
          std::min(pair.base.gpu.median / pair.base.run.median, pair.now.gpu.median / pair.now.run.median);
      result.host_share = std::max(0.0, 1 - gpu_share);
      scatter = {host_bound_scatter.fraction * result.host_share, host_bound_scatter.seconds};
    }
    result.host = estimate_of(pair.base.run, pair.now.run, scatter);
  }
  return result;
}

/// Returns the measured scatter of the estimates divided by the scatter that their standard errors predict,
/// at least 1. Returns 1 for fewer than `min_pairs_for_noise` estimates.
/// @param distances per estimate: |ln ratio - expected ln ratio| / standard error
double scatter_factor(std::vector<double> distances) {
  if (distances.size() < min_pairs_for_noise) return 1;
  return std::max(1.0, normal_mad * median_of(std::move(distances)));
}

/// Returns true if the trial belongs to the class of short times (see RunNoise).
bool is_short(const Pair& pair) {
  return (pair.has_replays() ? pair.base.gpu : pair.base.run).median < short_seconds;
}

/// The scatter of GPU times about the medians of their methods.
struct MethodScatter {
  std::vector<double> short_times, long_times;  ///< |ln ratio - median| / error per trial
  std::vector<double> medians;                  ///< each method's median ln ratio
};

/// Computes the scatter for the methods with at least min_pairs_of_method trials.
MethodScatter scatter_of(const std::vector<TrialEstimates*>& trials) {
  std::map<std::string, std::vector<const TrialEstimates*>> methods;
  for (const TrialEstimates* trial : trials) {
    if (trial->has_gpu) methods[method_of(*trial->pair)].push_back(trial);
  }
  MethodScatter scatter;
  for (const auto& [method, method_trials] : methods) {
    if (method_trials.size() < min_pairs_of_method) continue;
    std::vector<double> logs;
    for (const TrialEstimates* trial : method_trials) logs.push_back(trial->gpu.log);
    const double count = static_cast<double>(logs.size());
    const double median = median_of(std::move(logs));
    scatter.medians.push_back(median);
    for (const TrialEstimates* trial : method_trials) {
      // The last factor corrects a bias: the median is closer to the values that it is computed from than the
      // true value is.
      const double distance =
          std::fabs(trial->gpu.log - median) / trial->gpu.error * std::sqrt(count / (count - 1));
      std::vector<double>& distances = is_short(*trial->pair) ? scatter.short_times : scatter.long_times;
      distances.push_back(distance);
    }
  }
  return scatter;
}

/// Sets the drift in the trials' estimates, and scales their errors by the measured scatter.
/// @param host_bound_drift median ln(new / base) of the host-bound times; empty if there are too few of them
void correct(const std::vector<TrialEstimates*>& trials, const RunNoise& noise,
             std::optional<double> host_bound_drift) {
  for (TrialEstimates* trial : trials) {
    trial->gpu.drift = noise.drift;
    trial->gpu.error *= is_short(*trial->pair) ? noise.excess_scatter_short : noise.excess_scatter_long;
    if (!trial->has_host) continue;
    trial->host.error *= noise.excess_scatter_host;
    if (!host_bound_drift) {
      trial->host.error = std::hypot(trial->host.error, unknown_drift);
    } else if (trial->pair->has_replays()) {
      trial->host.drift = noise.host_drift * trial->host_share;
    } else {
      // The host's fraction of this time is unknown. Half of the drift is assumed, with an uncertainty that
      // covers the range from no drift to the whole drift.
      trial->host.drift = *host_bound_drift / 2;
      trial->host.error = std::hypot(trial->host.error, *host_bound_drift / 2);
    }
  }
}

/// Measures the drift and scatter of one backend's trials on one place, and corrects their estimates for
/// both.
RunNoise noise_of(const std::vector<TrialEstimates*>& trials, bool is_duet) {
  RunNoise noise;
  noise.backend = trials.front()->pair->identity.backend;
  noise.place = trials.front()->pair->new_place;
  // In a duet nothing is corrected, because drift affects both builds equally and the rounds show each
  // trial's scatter.
  if (is_duet) return noise;
  MethodScatter scatter = scatter_of(trials);
  noise.pairs = static_cast<std::int64_t>(scatter.short_times.size() + scatter.long_times.size());
  noise.excess_scatter_short = scatter_factor(std::move(scatter.short_times));
  noise.excess_scatter_long = scatter_factor(std::move(scatter.long_times));
  if (scatter.medians.size() >= min_methods) {
    const double median = median_of(scatter.medians);
    noise.drift = std::clamp(median, -max_drift, max_drift);
    for (double& each : scatter.medians) each = std::fabs(each - median);
    noise.method_sigma = normal_mad * median_of(std::move(scatter.medians));
  }
  std::vector<double> host_drifts, host_bound_logs, host_distances;
  for (const TrialEstimates* trial : trials) {
    // If the host's part of a time grows by a small relative drift x, ln(time) grows by f x. Here f is the
    // host's fraction of the time. So x is the change of ln(time) divided by f.
    if (trial->host_share < min_host_fraction) continue;
    host_drifts.push_back(trial->host.log / trial->host_share);
    host_bound_logs.push_back(trial->host.log);
  }
  std::optional<double> host_bound_drift;
  if (host_drifts.size() >= min_host_bound) {
    noise.host_drift = median_of(std::move(host_drifts));
    host_bound_drift = median_of(std::move(host_bound_logs));
  }
  for (const TrialEstimates* trial : trials) {
    if (trial->has_host && trial->pair->has_replays())
      host_distances.push_back(std::fabs(trial->host.log - noise.host_drift * trial->host_share) /
                               trial->host.error);
  }
  noise.excess_scatter_host = scatter_factor(std::move(host_distances));
  correct(trials, noise, host_bound_drift);
  return noise;
}

/// The verdicts on all estimates. Their tests are decided together to limit the rate of false findings.
class Decision {
 public:
  Decision(const std::vector<const Estimate*>& all, double false_alarm_rate, double threshold)
      : threshold_(threshold),
        tail_(false_alarm_rate / static_cast<double>(std::max<std::size_t>(1, all.size()))) {
    std::vector<double> above, below;
    for (const Estimate* each : all) {
      above.push_back(student_tail(each->without_drift() / each->error, each->degrees));
      below.push_back(student_tail(-each->without_drift() / each->error, each->degrees));
    }
    const std::vector<bool> slower = rejected(above, false_alarm_rate),
                            faster = rejected(below, false_alarm_rate);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Verdict unless_slower = faster[i] ? Verdict::faster : Verdict::unclear;
      verdicts_[all[i]] = slower[i] ? Verdict::slower : unless_slower;
    }
  }

  /// Returns the verdict on an estimate. @param otherwise the verdict on a change that is not significant
  Verdict verdict_of(const Estimate& estimate, Verdict otherwise = Verdict::unclear) const {
    if (std::fabs(estimate.without_drift()) <= std::log1p(threshold_)) return Verdict::same;
    const Verdict verdict = verdicts_.at(&estimate);
    return verdict == Verdict::unclear ? otherwise : verdict;
  }

  /// Returns the smallest relative change of this time that would be significant if no other trial changed.
  double detectable(const Estimate& estimate) const {
    return std::max(threshold_, estimate.detectable(tail_));
  }

  /// Returns the change with its interval. SAME becomes UNCLEAR unless the whole interval is within the
  /// threshold. @param verdict from verdict_of
  Change change(const Estimate& estimate, Verdict verdict, TimeKind kind) const {
    Change change{verdict, kind, estimate.ratio(), estimate.low(), estimate.high(), detectable(estimate)};
    const bool is_within = change.low >= 1 / (1 + threshold_) && change.high <= 1 + threshold_;
    if (verdict == Verdict::same && !is_within) change.verdict = Verdict::unclear;
    return change;
  }

 private:
  double threshold_;
  /// The false alarm rate divided by the number of tests. A test with a smaller P value is significant,
  /// whatever the P values of the other tests are.
  double tail_;
  std::map<const Estimate*, Verdict> verdicts_;
};

/// Returns the change of a pair or method if base and new are the same executions.
Change no_change(TimeKind kind) {
  return {Verdict::same, kind, /*ratio=*/1, /*low=*/1, /*high=*/1, /*detectable=*/0};
}

/// The smallest detectable changes of the UNCLEAR trials of one backend, in the present measurements and in
/// larger ones.
struct UnclearTrials {
  /// One element per trial; `seconds` is the shorter median of base and new.
  std::vector<double> present, with_rounds, with_samples, with_duet, seconds;
  std::int64_t rounds = 1;
  bool lacks_rounds = false;

  void add(const MeasuredEstimate& measured, const Pair& pair, const Decision& decision) {
    const auto smallest_change = [&](Estimate other) {
      // Other measurements would need the same correction for the runs' noise (see `correct`).
      other.error *= measured.error / measured.uncorrected_error;
      return decision.detectable(other);
    };
    present.push_back(decision.detectable(measured));
    with_rounds.push_back(smallest_change(measured.expected.rounds));
    with_samples.push_back(smallest_change(measured.expected.samples));
    with_duet.push_back(smallest_change(measured.expected.duet));
    const auto rounds_of = [](const Timing& timing) { return timing.processes / timing.runs; };
    const std::int64_t before = rounds_of(pair.base.run), after = rounds_of(pair.now.run);
    rounds = std::max(rounds, std::min(before, after));
    lacks_rounds = lacks_rounds || before != after;
    seconds.push_back(std::min(pair.base.run.median, pair.now.run.median));
  }

  Unclear summary(const std::string& backend) const {
    const auto [least, most] = std::minmax_element(present.begin(), present.end());
    Unclear unclear{backend, static_cast<std::int64_t>(present.size()), median_of(present), *least, *most,
                    rounds};
    unclear.with_rounds = median_of(with_rounds);
    unclear.with_samples = median_of(with_samples);
    unclear.with_duet = median_of(with_duet);
    unclear.lacks_rounds = lacks_rounds;
    constexpr double max_fixed_part = 0.5;
    unclear.is_too_short = backend != "cuda" && cpu_scatter.seconds > max_fixed_part * median_of(seconds);
    return unclear;
  }
};

/// Returns the reason why a run is worse whatever its time: it has more waits or more kernels, or it can no
/// longer be recorded as a graph because it waits for the host. Empty if there is no such reason.
std::string reason_of(const Pair& pair) {
  const Side &base = pair.base, &now = pair.now;
  if (!pair.has_same_place()) return "";
  if (base.waits >= 0 && now.waits > base.waits && base.iterations == now.iterations)
    return fmt::format("waits {} -> {}", base.waits, now.waits);
  if (base.gpu.is_known() && base.launch_bound >= 0 && now.launch_bound < 0 && now.queue_seconds > 0)
    return "waits for the host now";
  if (pair.is_host_bound() && base.kernels > 0 && now.kernels > base.kernels)
    return fmt::format("kernels {} -> {}", base.kernels, now.kernels);
  return "";
}

/// Sets a trial's verdict.
/// @return the estimate that the verdict is about; null if the trial has no times
const MeasuredEstimate* decide(const TrialEstimates& trial, const Decision& decision) {
  if (!trial.has_gpu && !trial.has_host) return nullptr;  // untimed
  Pair& pair = *trial.pair;
  const TimeKind kind = pair.has_replays() ? TimeKind::gpu : TimeKind::run;
  if (pair.has_same_executions) {
    pair.change = no_change(kind);
    return trial.has_gpu ? &trial.gpu : &trial.host;
  }
  Verdict gpu = Verdict::same, host = Verdict::same;
  if (trial.has_gpu) gpu = decision.verdict_of(trial.gpu);
  if (trial.has_host) host = decision.verdict_of(trial.host, Verdict::host_bound);
  const std::string reason = reason_of(pair);
  const Verdict run_verdict = trial.has_host ? host : gpu;
  if (!reason.empty() && gpu != Verdict::slower && run_verdict != Verdict::faster) {
    const MeasuredEstimate& measured = trial.has_host ? trial.host : trial.gpu;
    pair.change = decision.change(measured, Verdict::slower, TimeKind::run);
    pair.reason = reason;
    return &measured;
  }
  // The verdict with the highest priority counts. In this order: SLOWER of the GPU's time, SLOWER of the
  // run's time, any other change of the GPU's time, any change of the run's time.
  const bool is_about_gpu = trial.has_gpu && (gpu == Verdict::slower || host == Verdict::same ||
                                              (gpu != Verdict::same && host != Verdict::slower));
  pair.change =
      is_about_gpu ? decision.change(trial.gpu, gpu, kind) : decision.change(trial.host, host, TimeKind::run);
  if (pair.change.verdict == Verdict::slower) pair.reason = reason;
  return is_about_gpu ? &trial.gpu : &trial.host;
}

/// A method's trials on one place of base and one place of new, and their pooled estimate.
struct MethodEstimate {
  MethodChange change;
  std::vector<const TrialEstimates*> trials;
  Estimate pooled_estimate;
  bool is_known = false;  ///< true if there is a pooled estimate
  bool by_gpu = false;    ///< true if the pooled estimate is of GPU times
  bool by_host = false;   ///< true if the pooled estimate is of host-bound runs' times
};

/// Pools the estimates of each method's trials.
std::vector<MethodEstimate> methods_of(const std::vector<TrialEstimates>& trials,
                                       const std::map<std::pair<std::string, std::string>, RunNoise>& noise) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::vector<const TrialEstimates*>>
      all;
  for (const TrialEstimates& trial : trials) {
    const Pair& pair = *trial.pair;
    all[{method_of(pair), pair.identity.backend, pair.base_place, pair.new_place}].push_back(&trial);
  }
  std::vector<MethodEstimate> methods;
  for (const auto& [key, group] : all) {
    MethodEstimate method_estimate;
    MethodChange& change = method_estimate.change;
    std::tie(change.method, change.backend, change.base_place, change.new_place) = key;
    method_estimate.trials = group;
    std::vector<Estimate> gpu_estimates, host_estimates;
    for (const TrialEstimates* trial : group) {
      if (trial->has_gpu) gpu_estimates.push_back(trial->gpu);
      if (trial->has_host) host_estimates.push_back(trial->host);
    }
    method_estimate.by_gpu = gpu_estimates.size() >= min_pairs_of_method;
    method_estimate.by_host = !method_estimate.by_gpu && !host_estimates.empty();
    const std::vector<Estimate>& chosen = method_estimate.by_host ? host_estimates : gpu_estimates;
    method_estimate.is_known = !chosen.empty();
    if (method_estimate.is_known) method_estimate.pooled_estimate = pooled(chosen);
    const RunNoise* place_noise = find_in(noise, {change.backend, change.new_place});
    // Even without changes, whole methods vary by `method_sigma` from run to run, so no method's error is
    // smaller.
    if (place_noise != nullptr && change.has_same_place())
      method_estimate.pooled_estimate.error =
          std::max(method_estimate.pooled_estimate.error, place_noise->method_sigma);
    methods.push_back(std::move(method_estimate));
  }
  return methods;
}

}  // namespace

void decide_verdicts(Comparison& comparison, const CompareRules& rules) {
  std::vector<TrialEstimates> trials;
  trials.reserve(comparison.pairs.size());  // no reallocation, because `places` points to the elements
  std::map<std::pair<std::string, std::string>, std::vector<TrialEstimates*>> places;  // by backend and place
  for (Pair& pair : comparison.pairs) {
    trials.push_back(estimates_of(pair, comparison.is_duet));
    TrialEstimates& trial = trials.back();
    if (pair.has_same_place() && (trial.has_gpu || trial.has_host))
      places[{pair.identity.backend, pair.new_place}].push_back(&trial);
  }
  std::map<std::pair<std::string, std::string>, RunNoise> noise;
  for (const auto& [place, group] : places) {
    noise[place] = noise_of(group, comparison.is_duet);
    comparison.noise.push_back(noise[place]);
  }
  std::vector<MethodEstimate> methods = methods_of(trials, noise);
  std::vector<const Estimate*> all;
  for (const TrialEstimates& trial : trials) {
    if (trial.has_gpu) all.push_back(&trial.gpu);
    if (trial.has_host) all.push_back(&trial.host);
  }
  for (const MethodEstimate& method : methods) {
    if (method.is_known) all.push_back(&method.pooled_estimate);
  }
  const Decision decision(all, rules.false_alarm_rate, comparison.threshold);
  std::map<std::string, UnclearTrials> unclear;  // by backend
  for (const TrialEstimates& trial : trials) {
    const MeasuredEstimate* measured = decide(trial, decision);
    const Pair& pair = *trial.pair;
    if (pair.change.verdict == Verdict::unclear)
      unclear[pair.identity.backend].add(*measured, pair, decision);
  }
  for (const auto& [backend, unclear_trials] : unclear)
    comparison.unclear.push_back(unclear_trials.summary(backend));
  for (MethodEstimate& method : methods) {
    MethodChange& change = method.change;
    change.pairs = static_cast<std::int64_t>(method.trials.size());
    for (const TrialEstimates* trial : method.trials) ++change.counts[trial->pair->change.verdict];
    const auto holds_for_all_pairs = [&](const auto& has_property) {
      return std::all_of(method.trials.begin(), method.trials.end(),
                         [&](const TrialEstimates* trial) { return has_property(*trial->pair); });
    };
    if (method.is_known) {
      const bool has_gpu =
          method.by_gpu && holds_for_all_pairs([](const Pair& pair) { return pair.has_replays(); });
      const TimeKind kind = has_gpu ? TimeKind::gpu : TimeKind::run;
      const Verdict otherwise = method.by_host ? Verdict::host_bound : Verdict::unclear;
      const Estimate& pooled = method.pooled_estimate;
      change.change = holds_for_all_pairs([](const Pair& pair) { return pair.has_same_executions; })
                          ? no_change(kind)
                          : decision.change(pooled, decision.verdict_of(pooled, otherwise), kind);
    }
    comparison.methods.push_back(std::move(change));
  }
}

}  // namespace gaussweep::driver
