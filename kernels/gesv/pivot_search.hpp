#pragma once
/// The pivot search of partial pivoting on the CPU.

#include <cmath>
#include <cstdint>

namespace gaussweep {

/// Returns the index of the first element with the largest magnitude among the `count` >= 1 elements
/// column[0], column[stride], …. Returns 0 if column[0] is NaN; any other NaN is ignored.
template <class T>
std::int64_t find_pivot(const T* column, std::int64_t stride, std::int64_t count) {
  std::int64_t best = 0;
  T largest = std::fabs(column[0]);
  for (std::int64_t i = 1; i < count; ++i) {
    const T magnitude = std::fabs(column[i * stride]);
    if (magnitude > largest) {
      largest = magnitude;
      best = i;
    }
  }
  return best;
}

}  // namespace gaussweep
