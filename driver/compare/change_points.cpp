/// Finds steps and drifts in series of ln(time). A night is one run of a series, usually a nightly one.

#include "driver/compare/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "driver/base/statistics.hpp"
#include "driver/compare/compare_rule.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::size_t min_nights_of_drift = 10;  // with fewer nights, only steps are found

/// Returns the variance of one night's value: the mean of TimeSeries::model_variance, which a noise model
/// predicts, and of the series' own variance, weighted by their degrees of freedom. The model's variance is
/// limited to (1 + doubling_degrees / series_degrees) times the series' own variance. A long series shows its
/// variance well, so this limit is then close to the own variance.
/// @param squares sum of squared deviations from the segments' means
/// @param series_degrees degrees of freedom of `squares`
double variance_of(const TimeSeries& series, double squares, double series_degrees) {
  // With this number of degrees of freedom, the limit is twice the series' own variance.
  constexpr double doubling_degrees = 10;
  const double max_variance = squares / series_degrees * (1 + doubling_degrees / series_degrees);
  return (model_degrees * std::min(series.model_variance, max_variance) + squares) /
         (model_degrees + series_degrees);
}

/// Mean and sum of squared deviations of the values in [begin, end).
struct Segment {
  double count = 0, mean = 0, squares = 0;
  Segment(const std::vector<double>& values, std::size_t begin, std::size_t end)
      : count(static_cast<double>(end - begin)) {
    for (std::size_t i = begin; i < end; ++i) mean += values[i] / count;
    for (std::size_t i = begin; i < end; ++i) squares += squared(values[i] - mean);
  }
};

/// Returns the series with an outlier replaced by the median of the five nights around it. Without this, one
/// outlier near a step of a short series inflates the variance and hides the step. An outlier is a night far
/// from that median. After a step, `min_nights` or more nights have the new level. They dominate the median
/// and are no outliers. If there are several outliers, the times scatter or alternate between two values, and
/// the series is returned unchanged.
TimeSeries without_outlier(const TimeSeries& series) {
  constexpr std::size_t window = 2 * min_nights - 1;
  constexpr double max_distance = 4;           // in standard deviations
  constexpr double normal_difference = 0.954;  // median |x - y| / sigma for normal x and y
  const std::vector<double>& logs = series.logs;
  const std::size_t nights = logs.size();
  std::vector<double> differences;
  for (std::size_t i = 1; i < nights; ++i) differences.push_back(std::fabs(logs[i] - logs[i - 1]));
  const auto degrees = static_cast<double>(nights - 1);
  const double variance = squared(median_of(std::move(differences)) / normal_difference);
  const double limit = max_distance * std::sqrt(variance_of(series, degrees * variance, degrees));
  TimeSeries result = series;
  std::size_t outliers = 0;
  for (std::size_t i = 0; i < nights; ++i) {
    const std::size_t begin = std::min(i < window / 2 ? 0 : i - window / 2, nights - window);
    const auto from = logs.begin() + static_cast<std::ptrdiff_t>(begin);
    const double median = median_of({from, from + window});
    if (std::fabs(logs[i] - median) <= limit) continue;
    result.logs[i] = median;
    ++outliers;
  }
  return outliers > 1 ? series : result;
}

/// The least-squares line through a series. `slope` is per night, `squares` the sum of squared residuals, and
/// `error` the slope's standard error.
struct Line {
  double slope = 0, squares = 0, error = 0;
  explicit Line(const TimeSeries& series) {
    const std::vector<double>& y = series.logs;
    const auto n = static_cast<double>(y.size());
    const double middle = (n - 1) / 2, mean = std::accumulate(y.begin(), y.end(), 0.0) / n;
    double xx = 0, xy = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double x = static_cast<double>(i) - middle;
      xx += x * x;
      xy += x * (y[i] - mean);
    }
    slope = xy / xx;
    for (std::size_t i = 0; i < y.size(); ++i)
      squares += squared(y[i] - mean - slope * (static_cast<double>(i) - middle));
    error = std::sqrt(variance_of(series, squares, n - 2) / xx);
  }
};

/// Returns the GPUs of the nights [begin, end), as the numbers in TimeSeries::gpus.
std::set<int> gpus_in(const TimeSeries& series, std::size_t begin, std::size_t end) {
  const auto from = series.gpus.begin();
  return {from + static_cast<std::ptrdiff_t>(begin), from + static_cast<std::ptrdiff_t>(end)};
}

/// Computes the step at `step.at` between the segments [begin, at) and [at, end).
/// @return the probability of a step at least as large if nothing changed
double step_at(const TimeSeries& series, std::size_t begin, std::size_t end, ChangePoint& step) {
  const Segment before(series.logs, begin, step.at), after(series.logs, step.at, end);
  const double series_degrees = before.count + after.count - 2, degrees = model_degrees + series_degrees;
  double variance = variance_of(series, before.squares + after.squares, series_degrees) *
                    (1 / before.count + 1 / after.count);
  const std::set<int> old_gpus = gpus_in(series, 0, step.at),
                      gpus = gpus_in(series, step.at, series.logs.size());
  step.is_other_gpu =
      std::none_of(gpus.begin(), gpus.end(), [&](int gpu) { return old_gpus.count(gpu) > 0; });
  if (step.is_other_gpu) variance += series.gpu_variance;
  const double error = std::sqrt(variance);
  step.log = after.mean - before.mean;
  const double half_width = error * student_quantile(0.025, degrees);
  step.low = step.log - half_width;
  step.high = step.log + half_width;
  return 2 * student_tail(std::fabs(step.log) / error, degrees);
}

/// Splits [begin, end) recursively at the largest energy distance, down to segments of `min_nights`. Proposes
/// too many points on purpose; keep_steps removes those that are not significant.
void split(const std::vector<double>& values, std::size_t begin, std::size_t end,
           std::vector<ChangePoint>& points) {
  if (end - begin < 2 * min_nights) return;
  const std::size_t at = largest_distance(values, begin, end, min_nights);
  split(values, begin, at, points);
  points.emplace_back().at = at;
  split(values, at, end, points);
}

/// Moves a change point to the position in (begin, end) with the most significant step. This is needed
/// because the point was proposed for a shorter segment, before neighbouring points were removed.
void move_to_clearest(const TimeSeries& series, std::size_t begin, std::size_t end, ChangePoint& point) {
  double clearest = -1;
  for (std::size_t at = begin + min_nights; at + min_nights <= end; ++at) {
    const Segment before(series.logs, begin, at), after(series.logs, at, end);
    const double variance =
        variance_of(series, before.squares + after.squares, before.count + after.count - 2);
    const double clarity =
        squared(after.mean - before.mean) / variance / (1 / before.count + 1 / after.count);
    if (clarity <= clearest) continue;
    clearest = clarity;
    point.at = at;
  }
}

/// Removes the least significant change point repeatedly, until all remaining ones are significant. It starts
/// from more points than needed. If split() proposed only significant points, a step up and a step down of
/// equal size could hide each other: a single point between them shows little change.
/// @return the P value of the most significant point, with the Bonferroni correction; 1 if there is none
double keep_steps(const TimeSeries& series, double level, double threshold,
                  std::vector<ChangePoint>& points) {
  while (!points.empty()) {
    std::size_t weakest = 0;
    double largest = -1, smallest = 1;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t begin = i == 0 ? 0 : points[i - 1].at;
      const std::size_t end = i + 1 == points.size() ? series.logs.size() : points[i + 1].at;
      move_to_clearest(series, begin, end, points[i]);
      // Bonferroni correction: the position was chosen among all nights.
      const double tail = static_cast<double>(series.logs.size()) * step_at(series, begin, end, points[i]);
      // A step below the threshold gets a value above every level, so that it is removed.
      const double probability = std::fabs(points[i].log) > threshold ? tail : 2;
      smallest = std::min(smallest, probability);
      if (probability <= largest) continue;
      largest = probability;
      weakest = i;
    }
    if (largest <= level) return smallest;
    points.erase(points.begin() + static_cast<std::ptrdiff_t>(weakest));
  }
  return 1;
}

}  // namespace

std::size_t largest_distance(const std::vector<double>& values, std::size_t begin, std::size_t end,
                             std::size_t min_size) {
  // Sums of |values[i] - values[j]| over the pairs on the left side, on the right side, and over all pairs.
  double left = 0, right = 0, all = 0, largest = -1;
  for (std::size_t i = begin; i < end; ++i) {
    for (std::size_t j = i + 1; j < end; ++j) all += std::fabs(values[i] - values[j]);
  }
  right = all;
  std::size_t found = begin + min_size;
  for (std::size_t at = begin + 1; at + min_size <= end; ++at) {
    const double moved = values[at - 1];  // this value moves from the right to the left side
    for (std::size_t i = begin; i + 1 < at; ++i) left += std::fabs(moved - values[i]);
    for (std::size_t j = at; j < end; ++j) right -= std::fabs(moved - values[j]);
    if (at < begin + min_size) continue;
    const auto m = static_cast<double>(at - begin), n = static_cast<double>(end - at);
    // Energy distance of samples X (left) and Y (right): 2 E|X - Y| - E|X - X'| - E|Y - Y'|.
    const double distance =
        2 * (all - left - right) / (m * n) - 2 * left / (m * (m - 1)) - 2 * right / (n * (n - 1));
    const double weighted = distance * m * n / (m + n);
    if (weighted > largest) {
      largest = weighted;
      found = at;
    }
  }
  return found;
}

SeriesChange changes_of(const TimeSeries& all_nights, double level, double threshold) {
  SeriesChange change;
  const std::size_t nights = all_nights.logs.size();
  if (nights < 2 * min_nights) return change;
  const TimeSeries series = without_outlier(all_nights);
  split(series.logs, 0, nights, change.steps);
  change.p_value = keep_steps(series, level, threshold, change.steps);
  if (nights < min_nights_of_drift || gpus_in(series, 0, nights).size() > 1) return change;
  const Line line(series);
  const double span = static_cast<double>(nights - 1),
               degrees = model_degrees + static_cast<double>(nights) - 2;
  const double tail = 2 * student_tail(std::fabs(line.slope) / line.error, degrees);
  if (std::fabs(line.slope) * span <= threshold || tail > level) return change;
  double squares = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= change.steps.size(); ++i) {
    const std::size_t end = i < change.steps.size() ? change.steps[i].at : nights;
    squares += Segment(series.logs, begin, end).squares;
    begin = end;
  }
  // Schwarz's criterion (BIC). In addition to the mean, a line has one parameter (its slope) and each step
  // has two (position and height).
  const auto n = static_cast<double>(nights);
  const double steps_criterion =
      n * std::log(squares) + 2 * static_cast<double>(change.steps.size()) * std::log(n);
  if (n * std::log(line.squares) + std::log(n) >= steps_criterion) return change;
  const double half_width = line.error * span * student_quantile(0.025, degrees);
  change.steps.clear();
  change.is_drift = true;
  change.p_value = tail;
  change.drift = line.slope * span;
  change.drift_low = change.drift - half_width;
  change.drift_high = change.drift + half_width;
  return change;
}

}  // namespace gaussweep::driver
