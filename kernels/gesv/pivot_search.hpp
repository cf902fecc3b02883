#pragma once
/// Partial pivoting, the search on the host.

#include <cmath>
#include <cstdint>

namespace gaussweep {

/// The index of the first element of the largest magnitude among column[0], column[stride], …, `count` >= 1
/// of them. A NaN is never larger; where the first one is NaN, it stays.
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
