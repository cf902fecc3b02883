#pragma once
/// Statistics of a trial's samples.

#include <cstddef>
#include <vector>

namespace gaussweep::driver {

/// Summary of samples. Without samples all values are NaN; with one sample `stdev` is NaN.
struct Statistics {
  double min, q1, median, q3, max, mean;
  double stdev;  ///< sample standard deviation, with the divisor count - 1
  std::size_t count = 0;
};

/// Returns the quantile `probability` (0.5: the median) of ascending values. It interpolates linearly at the
/// index probability * (count - 1), as numpy does by default. Returns NaN if there are no values.
/// @pre 0 <= probability <= 1
double quantile(const std::vector<double>& ascending, double probability);

/// Returns the median of values in any order; NaN if there are no values. @pre no value is NaN
double median_of(std::vector<double> values);

constexpr double squared(double x) {
  return x * x;
}

/// Estimates the standard deviation sigma, divided by the median, of normally distributed samples from their
/// quartiles. The formula is (q3 - q1) / median / (1.349 (1 - 1/count)). Returns 0.2 for fewer than three
/// samples, because their spread is unknown.
double relative_sigma(double q1, double median, double q3, std::size_t count);

/// The standard error of a median divided by the standard error of a mean, for normally distributed samples:
/// sqrt(pi / 2).
constexpr double median_to_mean_error = 1.2533;

/// Returns the statistics of samples in any order. If a sample is NaN, everything but `count` is NaN.
Statistics summarise(std::vector<double> samples);

}  // namespace gaussweep::driver
