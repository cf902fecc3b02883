/// What is slower, what faster: estimates of all trials and methods, then one decision for all of them.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "driver/compare/compare.hpp"

namespace gaussweep::driver {

namespace {

constexpr double normal_mad = 1.4826;  // sigma of a normal distribution over its median absolute deviation
constexpr std::size_t least_of_method = 3;  // pairs whose median is a method's
constexpr std::size_t least_for_noise = 8;
constexpr std::size_t least_methods = 5;
constexpr std::size_t least_host_bound = 4;
constexpr double least_host_share = 0.3;  // of a time that tells of the host
constexpr double most_drift = 0.005;      // ln r that is a run's, not a change's
constexpr double unknown_drift = 0.1;  // of the host, where too few tell it: 3.1 to 4.6 us a launch are seen
constexpr double short_seconds = 1e-4;

/// An estimate, and what other measurements would find.
struct Measured : Estimate {
  double first_error = 0;  ///< before the noise of the runs was known
  Prospects prospects;
};

/// A trial with its estimates, not all of which it has.
struct Judged {
  Pair* pair = nullptr;
  bool by_gpu = false, by_host = false;
  Measured gpu, host;     ///< of what the GPU needs, or the whole run where it is not host-bound; of that run
  double host_share = 0;  ///< of that run's time
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
    const Estimate today = is_duet ? estimate_duet(base, now, scatter) : estimate(base, now, scatter, other);
    return Measured{today, today.error, prospects(base, now, scatter, other, is_duet)};
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
      const double of_gpu =
          std::min(pair.base.gpu.median / pair.base.run.median, pair.now.gpu.median / pair.now.run.median);
      result.host_share = std::max(0.0, 1 - of_gpu);
      scatter = {host_bound_scatter.share * result.host_share, host_bound_scatter.seconds};
    }
    result.host = estimate_of(pair.base.run, pair.now.run, scatter);
  }
  return result;
}

/// Of distances from where they are expected, as a sigma, which is at least 1.
double raise_of(std::vector<double> distances) {
  if (distances.size() < least_for_noise) return 1;
  return std::max(1.0, normal_mad * median_of(std::move(distances)));
}

bool is_short(const Pair& pair) {
  return (pair.has_replays() ? pair.base.gpu : pair.base.run).median < short_seconds;
}

/// How the trials of one backend on one place differ from what the rule expects.
RunNoise noise_of(const std::vector<Judged*>& trials, bool is_duet) {
  RunNoise noise;
  noise.backend = trials.front()->pair->identity.backend;
  noise.place = trials.front()->pair->new_place;
  // Whatever drifts met both, and each trial's scatter is known by its rounds.
  if (is_duet) return noise;
  std::map<std::string, std::vector<const Judged*>> methods;
  std::vector<double> of_host, of_runs, short_ones, long_ones, middles;
  for (const Judged* trial : trials) {
    if (trial->by_gpu) methods[method_of(*trial->pair)].push_back(trial);
    // ln of a time of which the host has a share moves by that share of what the host drifts.
    if (trial->host_share < least_host_share) continue;
    of_host.push_back(trial->host.log / trial->host_share);
    of_runs.push_back(trial->host.log);
  }
  for (const auto& [method, its_trials] : methods) {
    if (its_trials.size() < least_of_method) continue;
    std::vector<double> logs;
    for (const Judged* trial : its_trials) logs.push_back(trial->gpu.log);
    const double count = static_cast<double>(logs.size());
    const double middle = median_of(std::move(logs));
    middles.push_back(middle);
    for (const Judged* trial : its_trials) {
      const double distance =
          std::fabs(trial->gpu.log - middle) / trial->gpu.error * std::sqrt(count / (count - 1));
      (is_short(*trial->pair) ? short_ones : long_ones).push_back(distance);
    }
  }
  noise.pairs = static_cast<std::int64_t>(short_ones.size() + long_ones.size());
  noise.raise_short = raise_of(std::move(short_ones));
  noise.raise_long = raise_of(std::move(long_ones));
  if (middles.size() >= least_methods) {
    const double middle = median_of(middles);
    noise.drift = std::clamp(middle, -most_drift, most_drift);
    for (double& each : middles) each = std::fabs(each - middle);
    noise.of_methods = normal_mad * median_of(std::move(middles));
  }
  if (of_host.size() >= least_host_bound) noise.of_host = median_of(of_host);
  std::vector<double> of_launches;
  for (const Judged* trial : trials) {
    if (trial->by_host && trial->pair->has_replays())
      of_launches.push_back(std::fabs(trial->host.log - noise.of_host * trial->host_share) /
                            trial->host.error);
  }
  const double of_usual_run = of_runs.empty() ? 0 : median_of(std::move(of_runs));
  const bool is_drift_known = of_host.size() >= least_host_bound;
  noise.raise_host = raise_of(std::move(of_launches));
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
      // How much of the time is launches is unknown: as much as of those whose share is known, or nothing.
      trial->host.drift = of_usual_run / 2;
      trial->host.error = std::hypot(trial->host.error, of_usual_run / 2);
    }
  }
  return noise;
}

/// What all that was estimated says, decided at once.
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

  /// @param otherwise what is said of a change that is not told from what scatters
  Verdict of(const Estimate& estimate, Verdict otherwise = Verdict::unclear) const {
    if (std::fabs(estimate.own()) <= std::log1p(threshold_)) return Verdict::same;
    const Verdict verdict = of_.at(&estimate);
    return verdict == Verdict::unclear ? otherwise : verdict;
  }

  /// The least change of one estimate alone that is decided.
  double finds(const Estimate& estimate) const { return std::max(threshold_, estimate.finds(tail_)); }

  /// @param verdict as `of` has it. A time is SAME only if its whole interval lies within the threshold.
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

/// A time that is compared with itself.
Change no_change(Timed clock) {
  return {Verdict::same, clock, 1, 1, 1, 0};
}

/// The changes that the UNCLEAR trials of one backend find now, and that other measurements would find.
struct Doubts {
  std::vector<double> finds, with_rounds, with_samples, with_duet;
  std::int64_t rounds = 1;

  void add(const Measured& measured, const Side& base, const Side& now, const Decision& decision) {
    const auto raised = [&](Estimate other) {
      other.error *= measured.error / measured.first_error;
      return decision.finds(other);
    };
    finds.push_back(decision.finds(measured));
    with_rounds.push_back(raised(measured.prospects.rounds));
    with_samples.push_back(raised(measured.prospects.samples));
    with_duet.push_back(raised(measured.prospects.duet));
    rounds = std::max(rounds, std::min(base.run.processes / base.run.runs, now.run.processes / now.run.runs));
  }

  Unclear summary(const std::string& backend) const {
    const auto [least, most] = std::minmax_element(finds.begin(), finds.end());
    return {backend,
            static_cast<std::int64_t>(finds.size()),
            median_of(finds),
            *least,
            *most,
            rounds,
            median_of(with_rounds),
            median_of(with_samples),
            median_of(with_duet)};
  }
};

/// What the records count and no clock needs to tell. A run that could be recorded and no longer can waits
/// for the host in between.
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

/// @return the estimate that the verdict is about; none if the trial has no times
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
  const Verdict of_run_verdict = trial.by_host ? host : gpu;
  if (!reason.empty() && gpu != Verdict::slower && of_run_verdict != Verdict::faster) {
    const Measured& of_run = trial.by_host ? trial.host : trial.gpu;
    pair.change = decision.change(of_run, Verdict::slower, Timed::run);
    pair.reason = reason;
    return &of_run;
  }
  const bool is_gpus = trial.by_gpu && (gpu == Verdict::slower || host == Verdict::same ||
                                        (gpu != Verdict::same && host != Verdict::slower));
  pair.change =
      is_gpus ? decision.change(trial.gpu, gpu, clock) : decision.change(trial.host, host, Timed::run);
  if (pair.change.verdict == Verdict::slower) pair.reason = reason;
  return is_gpus ? &trial.gpu : &trial.host;
}

/// A method with the estimate of all its trials, where it has several.
struct JudgedMethod {
  MethodChange method;
  std::vector<const Judged*> trials;
  Estimate together;
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
    JudgedMethod one;
    std::tie(one.method.method, one.method.backend, one.method.base_place, one.method.new_place) = key;
    one.trials = its_trials;
    std::vector<Estimate> by_gpu, by_host;
    for (const Judged* trial : its_trials) {
      if (trial->by_gpu) by_gpu.push_back(trial->gpu);
      if (trial->by_host) by_host.push_back(trial->host);
    }
    one.by_gpu = by_gpu.size() >= least_of_method;
    const std::vector<Estimate>& chosen = one.by_gpu || by_host.empty() ? by_gpu : by_host;
    one.by_host = !one.by_gpu && !by_host.empty();
    one.is_known = !chosen.empty();
    if (one.is_known) one.together = pooled(chosen);
    const auto of_place = noise.find({one.method.backend, one.method.new_place});
    if (of_place != noise.end() && one.method.is_here())
      one.together.error = std::max(one.together.error, of_place->second.of_methods);
    methods.push_back(std::move(one));
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
    if (method.is_known) all.push_back(&method.together);
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
  for (JudgedMethod& one : methods) {
    MethodChange& method = one.method;
    method.pairs = static_cast<std::int64_t>(one.trials.size());
    for (const Judged* trial : one.trials) ++method.counts[trial->pair->change.verdict];
    if (one.is_known) {
      const Verdict otherwise = one.by_host ? Verdict::host_bound : Verdict::unclear;
      const bool has_gpu =
          one.by_gpu && std::all_of(one.trials.begin(), one.trials.end(),
                                    [](const Judged* trial) { return trial->pair->has_replays(); });
      const Timed clock = has_gpu ? Timed::gpu : Timed::run;
      const bool is_itself = std::all_of(one.trials.begin(), one.trials.end(),
                                         [](const Judged* trial) { return trial->pair->is_itself; });
      method.change = is_itself ? no_change(clock)
                                : decision.change(one.together, decision.of(one.together, otherwise), clock);
    }
    comparison.methods.push_back(std::move(method));
  }
}

}  // namespace gaussweep::driver
