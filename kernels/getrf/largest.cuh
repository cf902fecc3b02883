#pragma once
/// The pivot search within a warp, and a macro for device functions that are rarely called.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/simt/simt.hpp"

/// Keeps a device function from being inlined, so that its registers are allocated separately.
#ifdef __CUDACC__
#define GAUSSWEEP_NOINLINE __noinline__
#else
#define GAUSSWEEP_NOINLINE
#endif

namespace gaussweep::GAUSSWEEP_BACKEND {

/// Returns true if |value| is larger than |other|; NaN is larger than all numbers.
template <class T>
__device__ __forceinline__ bool is_larger(T value, T other) {
  return other == other && !(std::fabs(value) <= std::fabs(other));
}

/// Returns the eligible lane with the largest |value|, or -1 if no lane is eligible; ties go to the lowest
/// lane. NaN is larger than all numbers. All 32 lanes must call this.
///
/// Read as unsigned integers, the bits of |value| are ordered like the numbers, with NaN above them. From
/// compute capability 8.0 on, one warp reduction finds the largest high word. If several lanes with doubles
/// have this word, a second reduction finds the largest low word among them.
template <class T>
__device__ __forceinline__ int lane_of_largest(bool eligible, T value) {
  constexpr unsigned all = 0xffffffffu;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const T magnitude = std::fabs(value);
  unsigned high = 0, low = 0;
  if constexpr (sizeof(T) == 8) {
    unsigned long long bits = 0;
    memcpy(&bits, &magnitude, sizeof bits);
    high = static_cast<unsigned>(bits >> 32);
    low = static_cast<unsigned>(bits);
  } else {
    memcpy(&high, &magnitude, sizeof high);
  }
  const unsigned own_high = eligible ? high + 1 : 0;  // + 1, so that 0 means "not eligible"
  const unsigned largest = __reduce_max_sync(all, own_high);
  if (largest == 0) return -1;
  unsigned lanes = __ballot_sync(all, own_high == largest ? 1 : 0);
  if (sizeof(T) == 8 && (lanes & (lanes - 1)) != 0) {
    const unsigned own_low = own_high == largest ? low : 0;
    const unsigned largest_low = __reduce_max_sync(all, own_low);
    lanes = __ballot_sync(all, own_high == largest && low == largest_low ? 1 : 0);
  }
  return __ffs(static_cast<int>(lanes)) - 1;
#else
  // A butterfly reduction; -1 stands for "not eligible", and infinity for NaN.
  T magnitude = !eligible ? T(-1) : value == value ? std::fabs(value) : T(INFINITY);
  int lane = static_cast<int>(threadIdx.x) % 32;
  GAUSSWEEP_UNROLL
  for (int distance = 16; distance > 0; distance /= 2) {
    const T other = __shfl_xor_sync(all, magnitude, distance);
    const int lane_of_other = __shfl_xor_sync(all, lane, distance);
    if (other > magnitude || (other == magnitude && lane_of_other < lane)) {
      magnitude = other;
      lane = lane_of_other;
    }
  }
  return magnitude < T(0) ? -1 : lane;
#endif
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
