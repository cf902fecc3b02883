#pragma once
/// The lane of a warp that has the element of the largest size: the search for a pivot.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// Whether |one| is larger than |other|; NaN is larger than all others.
template <class T>
__device__ __forceinline__ bool is_larger(T one, T other) {
  return other == other && !(std::fabs(one) <= std::fabs(other));
}

/// Of the lanes for which `may` holds the one with the largest |value|, of equal ones the first. NaN is
/// larger than all others. -1: it holds for none. All 32 lanes call it.
///
/// The bits of |value| are ordered as the numbers are, those of NaN above them. From compute capability 8.0
/// on one instruction finds the greatest high word. Where several lanes of doubles have it, another finds the
/// greatest low word.
template <class T>
__device__ __forceinline__ int lane_of_largest(bool may, T value) {
  constexpr unsigned all = 0xffffffffu;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const T size = std::fabs(value);
  unsigned high = 0, low = 0;
  if constexpr (sizeof(T) == 8) {
    unsigned long long bits = 0;
    memcpy(&bits, &size, sizeof bits);
    high = static_cast<unsigned>(bits >> 32);
    low = static_cast<unsigned>(bits);
  } else {
    memcpy(&high, &size, sizeof high);
  }
  const unsigned own = may ? high + 1 : 0;  // 0 is a size, too
  const unsigned most = __reduce_max_sync(all, own);
  if (most == 0) return -1;
  unsigned lanes = __ballot_sync(all, own == most ? 1 : 0);
  if (sizeof(T) == 8 && (lanes & (lanes - 1)) != 0) {
    const unsigned least = own == most ? low : 0;
    const unsigned most_low = __reduce_max_sync(all, least);
    lanes = __ballot_sync(all, own == most && low == most_low ? 1 : 0);
  }
  return __ffs(static_cast<int>(lanes)) - 1;
#else
  T size = !may ? T(-1) : value == value ? std::fabs(value) : T(INFINITY);
  int lane = static_cast<int>(threadIdx.x) % 32;
  GAUSSWEEP_UNROLL
  for (int apart = 16; apart > 0; apart /= 2) {
    const T other = __shfl_xor_sync(all, size, apart);
    const int lane_of_other = __shfl_xor_sync(all, lane, apart);
    if (other > size || (other == size && lane_of_other < lane)) {
      size = other;
      lane = lane_of_other;
    }
  }
  return size < T(0) ? -1 : lane;
#endif
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
