#include "driver/compare/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "driver/base/statistics.hpp"
#include "driver/compare/compare_rule.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::size_t least_of_drift = 10;

/// What one night scatters by: the model's, as far as the series' own nights allow it, and theirs.
/// @param squares of the nights about their means, with so many degrees of freedom
double variance_of(const TimeSeries& series, double squares, double own_degrees) {
  constexpr double doubt = 10;  // degrees at which a class may scatter twice as much as the trial did
  const double most = squares / own_degrees * (1 + doubt / own_degrees);
  return (model_degrees * std::min(series.model_variance, most) + squares) / (model_degrees + own_degrees);
}

/// Mean of [begin, end), and the squares about it.
struct Segment {
  double count = 0, mean = 0, squares = 0;
  Segment(const std::vector<double>& values, std::size_t begin, std::size_t end)
      : count(static_cast<double>(end - begin)) {
    for (std::size_t i = begin; i < end; ++i) mean += values[i] / count;
    for (std::size_t i = begin; i < end; ++i) squares += squared(values[i] - mean);
  }
};

/// The line through a series, by least squares.
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

std::set<int> groups_in(const TimeSeries& series, std::size_t begin, std::size_t end) {
  const auto from = series.groups.begin();
  return {from + static_cast<std::ptrdiff_t>(begin), from + static_cast<std::ptrdiff_t>(end)};
}

/// The step at `at`, between what lies from `begin` to it and from it to `end`. @return P of such a one, or a
/// larger one, where there is none
double step_at(const TimeSeries& series, std::size_t begin, std::size_t end, ChangePoint& step) {
  const Segment before(series.logs, begin, step.at), after(series.logs, step.at, end);
  const double own_degrees = before.count + after.count - 2, degrees = model_degrees + own_degrees;
  double variance =
      variance_of(series, before.squares + after.squares, own_degrees) * (1 / before.count + 1 / after.count);
  const std::set<int> old_groups = groups_in(series, 0, step.at),
                      groups = groups_in(series, step.at, series.logs.size());
  step.is_other_group =
      std::none_of(groups.begin(), groups.end(), [&](int group) { return old_groups.count(group) > 0; });
  if (step.is_other_group) variance += series.group_variance;
  const double error = std::sqrt(variance);
  step.log = after.mean - before.mean;
  const double reach = error * student_quantile(0.025, degrees);
  step.low = step.log - reach;
  step.high = step.log + reach;
  return 2 * student_tail(std::fabs(step.log) / error, degrees);
}

/// Every place where the energy distance would have it split, down to the shortest pieces.
void split(const std::vector<double>& values, std::size_t begin, std::size_t end,
           std::vector<ChangePoint>& places) {
  if (end - begin < 2 * least_nights) return;
  const std::size_t at = largest_distance(values, begin, end, least_nights);
  split(values, begin, at, places);
  places.emplace_back().at = at;
  split(values, at, end, places);
}

/// Moves a place to where the step between `begin` and `end` is clearest: places were proposed beside others
/// that are gone, and may lie a night off.
void settle(const TimeSeries& series, std::size_t begin, std::size_t end, ChangePoint& place) {
  double clearest = -1;
  for (std::size_t at = begin + least_nights; at + least_nights <= end; ++at) {
    const Segment before(series.logs, begin, at), after(series.logs, at, end);
    const double variance =
        variance_of(series, before.squares + after.squares, before.count + after.count - 2);
    const double clear = squared(after.mean - before.mean) / variance / (1 / before.count + 1 / after.count);
    if (clear <= clearest) continue;
    clearest = clear;
    place.at = at;
  }
}

/// Leaves out the place that tells least, again and again, until each that is left tells enough: so a step up
/// does not hide the one down after it.
/// @return P of the clearest, 1 without any
double keep_steps(const TimeSeries& series, double level, double threshold,
                  std::vector<ChangePoint>& places) {
  while (!places.empty()) {
    std::size_t least = 0;
    double largest = -1, smallest = 1;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::size_t begin = i == 0 ? 0 : places[i - 1].at;
      const std::size_t end = i + 1 == places.size() ? series.logs.size() : places[i + 1].at;
      settle(series, begin, end, places[i]);
      const double tail = static_cast<double>(series.logs.size()) * step_at(series, begin, end, places[i]);
      // They were chosen among as many as there are nights.
      const double told = std::fabs(places[i].log) > threshold ? tail : 2;
      smallest = std::min(smallest, told);
      if (told <= largest) continue;
      largest = told;
      least = i;
    }
    if (largest <= level) return smallest;
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(least));
  }
  return 1;
}

}  // namespace

std::size_t largest_distance(const std::vector<double>& values, std::size_t begin, std::size_t end,
                             std::size_t least) {
  double left = 0, right = 0, all = 0, largest = -1;
  for (std::size_t i = begin; i < end; ++i) {
    for (std::size_t j = i + 1; j < end; ++j) all += std::fabs(values[i] - values[j]);
  }
  right = all;
  std::size_t found = begin + least;
  for (std::size_t at = begin + 1; at + least <= end; ++at) {
    const double moved = values[at - 1];  // from the right to the left
    for (std::size_t i = begin; i + 1 < at; ++i) left += std::fabs(moved - values[i]);
    for (std::size_t j = at; j < end; ++j) right -= std::fabs(moved - values[j]);
    if (at < begin + least) continue;
    const auto m = static_cast<double>(at - begin), n = static_cast<double>(end - at);
    const double distance =
        2 * (all - left - right) / (m * n) - 2 * left / (m * (m - 1)) - 2 * right / (n * (n - 1));
    const double weighed = distance * m * n / (m + n);
    if (weighed > largest) {
      largest = weighed;
      found = at;
    }
  }
  return found;
}

SeriesChange changes_of(const TimeSeries& series, double level, double threshold) {
  SeriesChange change;
  const std::size_t nights = series.logs.size();
  if (nights < 2 * least_nights) return change;
  split(series.logs, 0, nights, change.steps);
  change.tail = keep_steps(series, level, threshold, change.steps);
  if (nights < least_of_drift || groups_in(series, 0, nights).size() > 1) return change;
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
  // By Schwarz's criterion: a line has one number beside its mean, each step two.
  const auto n = static_cast<double>(nights);
  const double of_steps = n * std::log(squares) + 2 * static_cast<double>(change.steps.size()) * std::log(n);
  if (n * std::log(line.squares) + std::log(n) >= of_steps) return change;
  const double reach = line.error * span * student_quantile(0.025, degrees);
  change.steps.clear();
  change.is_drift = true;
  change.tail = tail;
  change.drift = line.slope * span;
  change.drift_low = change.drift - reach;
  change.drift_high = change.drift + reach;
  return change;
}

}  // namespace gaussweep::driver
