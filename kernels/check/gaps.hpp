#pragma once
/// Element-wise differences (gaps) of two matrices. The CPU (norms.hpp) and a device (device_difference.cuh)
/// share these functions, so that their results have the same bits.

#include <algorithm>
#include <cmath>

#include "kernels/check/scaled.hpp"

namespace gaussweep {

/// The difference between two elements x and y.
struct Gap {
  double scaled;    ///< |x - y| 2^-unit, below 1
  double relative;  ///< |x - y| / |y|, may be infinite; -1 if y is 0
};

/// Returns the exponent `unit` for gap_between. All elements of both matrices are below 2^(unit - 1) in
/// magnitude, so that a scaled difference is below 1. @param x_norm, y_norm max |x| and max |y|
GAUSSWEEP_SHARED_INLINE std::int64_t unit_of_gaps(double x_norm, double y_norm) {
  return exponent_of(std::max(x_norm, y_norm)) + 1;
}

/// Returns the difference between x and y, scaled by 2^-unit. @pre both are finite
GAUSSWEEP_SHARED_INLINE Gap gap_between(double x, double y, std::int64_t unit) {
  const double scaled = std::fabs(times_power(x, -unit) - times_power(y, -unit));
  if (y == 0) return {scaled, -1};
  const double difference = std::fabs(x - y);  // overflows only if the signs differ; then |x - y| = |x| + |y|
  return {scaled, std::isfinite(difference) ? difference / std::fabs(y) : 1 + std::fabs(x / y)};
}

/// The gaps of a column, accumulated from the first row to the last.
struct ColumnGaps {
  double largest = 0, largest_relative = 0;  ///< maxima of the scaled and of the relative gaps
  double relative = 0, absolute = 0;         ///< sums of the relative and of the scaled gaps
  std::int64_t quotients = 0;                ///< the number of relative gaps

  GAUSSWEEP_SHARED_INLINE void include(const Gap& gap) {
    largest = std::max(largest, gap.scaled);
    absolute += gap.scaled;
    if (gap.relative < 0) return;
    largest_relative = std::max(largest_relative, gap.relative);
    relative += gap.relative;
    ++quotients;
  }
};

}  // namespace gaussweep
