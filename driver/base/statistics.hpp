#pragma once
/// What is said of a trial's samples.

#include <cstddef>
#include <vector>

namespace gaussweep::driver {

/// NaN where there is no value: all of it without samples, `stdev` with one.
struct Statistics {
  double min, q1, median, q3, max, mean;
  double stdev;  ///< of the sample: divided by count - 1
  std::size_t count = 0;
};

/// Quantile of ascending values by linear interpolation between neighbours (numpy's default): at position
/// share (count - 1). NaN where there are none.
/// @pre 0 <= share <= 1
double quantile(const std::vector<double>& ascending, double share);

/// Median of values in any order, none of them NaN. NaN where there are none.
double median_of(std::vector<double> values);

constexpr double squared(double x) {
  return x * x;
}

/// Standard deviation of a normal distribution with such quartiles, over the median, corrected for few
/// samples: (q3 - q1) / median / (1.349 (1 - 1/count)). One or two samples say nothing of their spread: 20 %
/// are assumed.
double relative_sigma(double q1, double median, double q3, std::size_t count);

/// Standard error of a median over that of a mean: sqrt(pi / 2).
constexpr double median_error = 1.2533;

/// Statistics of samples in any order. A NaN among them makes everything but `count` NaN.
Statistics summarise(std::vector<double> samples);

}  // namespace gaussweep::driver
