/// Computes the statistics of a trial's samples.

#include "driver/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gaussweep::driver {

double quantile(const std::vector<double>& ascending, double probability) {
  if (ascending.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double position = probability * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= ascending.size()) return ascending.back();
  const double fraction = position - static_cast<double>(below);
  const double low = ascending[below], high = ascending[below + 1];
  return fraction == 0 ? low : low + fraction * (high - low);
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

double relative_sigma(double q1, double median, double q3, std::size_t count) {
  constexpr double assumed = 0.2;       // result for one or two samples
  constexpr double normal_iqr = 1.349;  // interquartile range of a normal distribution divided by its sigma
  if (count < 3) return assumed;
  // Quartiles of few samples lie closer together; the factor 1 - 1/n corrects this.
  return (q3 - q1) / median / (normal_iqr * (1 - 1 / static_cast<double>(count)));
}

Statistics summarise(std::vector<double> samples) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  Statistics result{unknown, unknown, unknown, unknown, unknown, unknown, unknown, samples.size()};
  const bool has_nan = std::any_of(samples.begin(), samples.end(), [](double x) { return std::isnan(x); });
  if (samples.empty() || has_nan) return result;
  std::sort(samples.begin(), samples.end());
  result.min = samples.front();
  result.q1 = quantile(samples, 0.25);
  result.median = quantile(samples, 0.5);
  result.q3 = quantile(samples, 0.75);
  result.max = samples.back();
  // Two passes: the samples of a stable kernel differ only in their last digits, which one pass would cancel.
  double sum = 0;
  for (const double x : samples) sum += x;
  const auto count = static_cast<double>(samples.size());
  result.mean = sum / count;
  if (samples.size() > 1) {
    double squares = 0;
    for (const double x : samples) squares += (x - result.mean) * (x - result.mean);
    result.stdev = std::sqrt(squares / (count - 1));
  }
  return result;
}

}  // namespace gaussweep::driver
