#pragma once
/// How far elements of two matrices are from each other. The CPU (norms.hpp) and a device
/// (device_difference.cuh) share this, so that both have the same bits.

#include <algorithm>
#include <cmath>

#include "kernels/residual/scaled.hpp"

namespace gaussweep {

/// Between x and y.
struct Gap {
  double small;     ///< |x - y| 2^-unit, below 1
  double relative;  ///< |x - y| / |y|, may be infinite; -1 where y is 0
};

/// The unit of `gap_between` for matrices of these largest elements.
GAUSSWEEP_SHARED_INLINE std::int64_t unit_of_gaps(double x_norm, double y_norm) {
  return exponent_of(std::max(x_norm, y_norm)) + 1;
}

/// @pre both finite
GAUSSWEEP_SHARED_INLINE Gap gap_between(double x, double y, std::int64_t unit) {
  const double small = std::fabs(times_power(x, -unit) - times_power(y, -unit));
  if (y == 0) return {small, -1};
  const double apart = std::fabs(x - y);  // infinite only where the signs differ
  return {small, std::isfinite(apart) ? apart / std::fabs(y) : 1 + std::fabs(x / y)};
}

/// Of a column, included from the first row to the last. A gap of 0 and 0 changes nothing.
struct ColumnGaps {
  double largest = 0, largest_relative = 0, relative = 0, absolute = 0;
  std::int64_t quotients = 0;

  GAUSSWEEP_SHARED_INLINE void include(const Gap& gap) {
    largest = std::max(largest, gap.small);
    absolute += gap.small;
    if (gap.relative < 0) return;
    largest_relative = std::max(largest_relative, gap.relative);
    relative += gap.relative;
    ++quotients;
  }
};

}  // namespace gaussweep
