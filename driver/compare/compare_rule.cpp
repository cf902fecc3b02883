/// The statistics of the rule that decides if two times differ (compare_rule.hpp).

#include "driver/compare/compare_rule.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gaussweep::driver {

namespace {

/// Fraction of a process's variance that is common to all processes of its run, so that more processes do not
/// reduce it.
constexpr double run_fraction = 0.3;
/// Fraction of a trial's variance that is common to all trials of its method.
constexpr double method_fraction = 0.25;
/// Upper limit on the degrees of freedom of the mean over a method's trials.
constexpr double method_degrees = 30;

/// Returns the variance of a process's ln(median) that the noise model (`scatter`) and the samples' sigma
/// predict.
double variance_of_model(const Timing& base, const Timing& now, const Scatter& scatter) {
  const double seconds = std::sqrt(base.median * now.median);
  // The larger sigma of both sets counts, because the quartiles of five samples are sometimes narrow by
  // chance, but rarely in both sets.
  const double samples_per_process =
      static_cast<double>(base.samples + now.samples) / static_cast<double>(base.processes + now.processes);
  const double sample_variance =
      squared(median_to_mean_error * std::max(base.sigma, now.sigma)) / samples_per_process;
  return squared(scatter.fraction) + squared(scatter.seconds / seconds) + sample_variance;
}

/// Returns the degrees of freedom of `variance_of`.
double degrees_of(const Timing& base, const Timing& now) {
  return model_degrees + static_cast<double>(base.processes + now.processes - 2);
}

/// Returns the variance of a process's ln(median): the mean of the predicted and the measured variance,
/// weighted by their degrees of freedom.
double variance_of(const Timing& base, const Timing& now, const Scatter& scatter) {
  // The sum of squared deviations of ln(median) from the means of the two sets.
  const double measured_squares = static_cast<double>(base.processes - 1) * base.variance +
                                  static_cast<double>(now.processes - 1) * now.variance;
  return (model_degrees * variance_of_model(base, now, scatter) + measured_squares) / degrees_of(base, now);
}

/// The probability above the upper end of a 95 % confidence interval, and below the lower end.
constexpr double interval_tail = 0.025;

Statistics quartiles(double q1, double median, double q3, std::int64_t count) {
  Statistics s = summarise({});
  s.q1 = q1;
  s.median = median;
  s.q3 = q3;
  s.count = static_cast<std::size_t>(std::max<std::int64_t>(count, 0));
  return s;
}

}  // namespace

Statistics quartiles_of(const io::Record& record) {
  return quartiles(record.seconds_q1, record.seconds_median, record.seconds_q3, record.samples);
}

Statistics replay_quartiles_of(const io::Record& record) {
  return quartiles(record.replay_q1, record.replay_median, record.replay_q3, record.samples);
}

Timing timing_of(const std::vector<Statistics>& processes, std::int64_t runs) {
  std::vector<double> medians, sigmas, logs;
  Timing timing;
  for (const Statistics& s : processes) {
    if (!(s.median > 0)) continue;
    timing.samples += static_cast<std::int64_t>(s.count);
    medians.push_back(s.median);
    logs.push_back(std::log(s.median));
    sigmas.push_back(relative_sigma(s.q1, s.median, s.q3, s.count));
  }
  if (medians.empty()) return {};
  timing.processes = static_cast<std::int64_t>(medians.size());
  timing.runs = std::clamp<std::int64_t>(runs, 1, timing.processes);
  const Statistics spread = summarise(std::move(logs));
  if (spread.count > 1) timing.variance = squared(spread.stdev);
  timing.median = summarise(std::move(medians)).median;
  timing.sigma = summarise(std::move(sigmas)).median;
  return timing;
}

double student_quantile(double tail, double degrees) {
  double low = 0, high = 1e3;     // ends of the bisection
  for (int i = 0; i < 60; ++i) {  // 60 halvings exceed the 53 bits of a double
    const double center = (low + high) / 2;
    double& end = student_tail(center, degrees) > tail ? low : high;
    end = center;
  }
  return high;
}

double Estimate::ratio() const {
  return std::exp(log);
}

double Estimate::low() const {
  return std::exp(log - error * student_quantile(interval_tail, degrees));
}

double Estimate::high() const {
  return std::exp(log + error * student_quantile(interval_tail, degrees));
}

double Estimate::detectable(double tail) const {
  return std::expm1(error * student_quantile(tail, degrees));
}

Estimate estimate_duet(const Timing& base, const Timing& now, const Scatter& scatter, double weight) {
  std::vector<double> logs;
  for (const auto& [round, log] : base.rounds) {
    const auto other = now.rounds.find(round);
    if (other != now.rounds.end()) logs.push_back(other->second - log);
  }
  if (logs.size() < 2) return estimate(base, now, scatter, /*is_other_gpu=*/false);
  const auto count = static_cast<double>(logs.size());
  const Statistics differences = summarise(std::move(logs));
  const double degrees = weight + count - 1;
  // The difference of two times has twice the variance of one time.
  const double variance =
      (weight * 2 * variance_of_model(base, now, scatter) + (count - 1) * squared(differences.stdev)) /
      degrees;
  return {differences.mean, std::sqrt(variance / count), degrees, /*drift=*/0};
}

Estimate estimate(const Timing& base, const Timing& now, const Scatter& scatter, bool is_other_gpu) {
  const auto processes = static_cast<double>(base.processes),
             new_processes = static_cast<double>(now.processes);
  const double seconds = std::sqrt(base.median * now.median);
  const double variance = variance_of(base, now, scatter);
  // The part `run_fraction` of the variance is averaged over the runs, the rest over the processes.
  double difference_variance =
      variance * ((1 - run_fraction) * (1 / processes + 1 / new_processes) +
                  run_fraction * (1 / static_cast<double>(base.runs) + 1 / static_cast<double>(now.runs)));
  if (is_other_gpu)
    difference_variance += squared(other_gpu_scatter.fraction) + squared(other_gpu_scatter.seconds / seconds);
  return {std::log(now.median / base.median), std::sqrt(difference_variance), degrees_of(base, now),
          /*drift=*/0};
}

ExpectedEstimates expected_estimates(const Timing& base, const Timing& now, const Scatter& scatter,
                                     bool is_other_gpu, bool is_duet) {
  const auto repeated = [&](Timing timing) {
    if (timing.processes == 1) timing.variance = variance_of(base, now, scatter);
    timing.processes *= 3;
    timing.samples *= 3;
    return timing;
  };
  const auto sampled = [](Timing timing) {
    timing.samples *= 4;
    return timing;
  };
  ExpectedEstimates result;
  result.rounds = estimate(repeated(base), repeated(now), scatter, is_other_gpu);
  result.samples = estimate(sampled(base), sampled(now), scatter, is_other_gpu);
  if (is_duet) {
    const Estimate present = estimate_duet(base, now, scatter);
    const double rounds = present.degrees - model_degrees + 1;  // inverts the formula in estimate_duet
    result.duet = {present.log, present.error / std::sqrt(3), model_degrees + 3 * rounds - 1, 0};
  } else {
    constexpr auto rounds = static_cast<double>(duet_rounds);
    result.duet = {result.rounds.log, std::sqrt(2 * variance_of(base, now, scatter) / rounds),
                   model_degrees + rounds - 1, 0};
  }
  return result;
}

Estimate pooled(const std::vector<Estimate>& trials) {
  double weights = 0, squares = 0, degrees = 0;
  Estimate pooled_estimate{0, 0, 0, 0};
  for (const Estimate& trial : trials) {
    const double weight = 1 / squared(trial.error);
    weights += weight;
    squares += squared(weight);
    degrees += trial.degrees;
    pooled_estimate.log += weight * trial.log;
    pooled_estimate.drift += weight * trial.drift;
  }
  // Kish's effective number of trials; it is the number of trials if all weights are equal.
  const double count = squared(weights) / squares;
  pooled_estimate.log /= weights;
  pooled_estimate.drift /= weights;
  // The variance of a mean of `count` values with the pairwise correlation method_fraction.
  pooled_estimate.error = std::sqrt((1 + method_fraction * (count - 1)) / weights);
  pooled_estimate.degrees = std::min(degrees, method_degrees);
  return pooled_estimate;
}

// Abramowitz and Stegun 26.7.3 (odd degrees of freedom) and 26.7.4 (even).
double student_tail(double t, double degrees) {
  if (std::isnan(t)) return 1;
  const int whole = static_cast<int>(std::min(degrees, 200.0));  // above 200 the tail hardly changes
  const double angle = std::atan(t / std::sqrt(whole)), cosine = std::cos(angle);
  const bool is_odd = whole % 2 == 1;
  double term = is_odd ? cosine : 1, sum = whole == 1 ? 0 : term;
  for (int k = is_odd ? 3 : 2; k < whole; k += 2) {
    term *= squared(cosine) * (k - 1) / k;
    sum += term;
  }
  constexpr double two_over_pi = 0.63661977236758134;
  const double within = is_odd ? two_over_pi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
  return std::max(0.0, (1 - within) / 2);
}

std::vector<bool> rejected(const std::vector<double>& tails, double false_discovery_rate) {
  std::vector<std::size_t> order(tails.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return tails[a] < tails[b]; });
  std::size_t count = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto rank = static_cast<double>(i + 1);
    if (tails[order[i]] <= false_discovery_rate * rank / static_cast<double>(tails.size())) count = i + 1;
  }
  std::vector<bool> result(tails.size(), false);
  for (std::size_t i = 0; i < count; ++i) result[order[i]] = true;
  return result;
}

}  // namespace gaussweep::driver
