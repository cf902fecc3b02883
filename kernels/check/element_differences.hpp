#pragma once
/// Element-wise differences of two matrices. The CPU (norms.hpp) and a device (device_difference.cuh)
/// share these functions, so that their results have the same bits.

#include <algorithm>
#include <cmath>

#include "kernels/check/scaled.hpp"

namespace gaussweep {

/// The difference between two elements x and y.
struct PairDifference {
  double scaled;    ///< |x - y| 2^-exponent, below 1
  double relative;  ///< |x - y| / |y|, may be infinite; -1 if y is 0
};

/// Returns the argument `exponent` of pair_difference. All elements of both matrices are below 2^(exponent -
/// 1) in magnitude, so that a scaled difference is below 1.
/// @param x_norm, y_norm max |x| and max |y|
GAUSSWEEP_SHARED_INLINE std::int64_t difference_exponent(double x_norm, double y_norm) {
  return exponent_of(std::max(x_norm, y_norm)) + 1;
}

/// Returns the difference between x and y, scaled by 2^-exponent. @pre both are finite
GAUSSWEEP_SHARED_INLINE PairDifference pair_difference(double x, double y, std::int64_t exponent) {
  const double scaled = std::fabs(times_power(x, -exponent) - times_power(y, -exponent));
  if (y == 0) return {scaled, -1};
  const double difference = std::fabs(x - y);  // overflows only if the signs differ; then |x - y| = |x| + |y|
  return {scaled, std::isfinite(difference) ? difference / std::fabs(y) : 1 + std::fabs(x / y)};
}

/// The differences of a column, accumulated from the first row to the last.
struct ColumnDifferences {
  double largest = 0, largest_relative = 0;  ///< maxima of the scaled and of the relative differences
  double relative = 0, absolute = 0;         ///< sums of the relative and of the scaled differences
  std::int64_t quotients = 0;                ///< the number of relative differences

  GAUSSWEEP_SHARED_INLINE void include(const PairDifference& difference) {
    largest = std::max(largest, difference.scaled);
    absolute += difference.scaled;
    if (difference.relative < 0) return;
    largest_relative = std::max(largest_relative, difference.relative);
    relative += difference.relative;
    ++quotients;
  }
};

}  // namespace gaussweep
