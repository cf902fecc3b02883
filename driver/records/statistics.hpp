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

/// Statistics of samples in any order. A NaN among them makes everything but `count` NaN.
Statistics summarise(std::vector<double> samples);

}  // namespace gaussweep::driver
