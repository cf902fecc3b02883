#pragma once
/// Pivot candidates of the LU panels in a cluster (panel_exchange.cuh), and their comparison.

#include <cmath>
#include <cstdint>

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail {

/// Returns the bits of |value|, which have the order of the magnitudes.
__device__ __forceinline__ unsigned magnitude(float value) {
  return __float_as_uint(value) & 0x7fffffffu;
}

constexpr int no_row = 0x7fffffff;  ///< the position of a row that does not exist

/// A candidate for the pivot, as sent to other blocks.
struct alignas(16) Candidate {
  unsigned high;       ///< the magnitude's high word; its highest bit is set, unlike in no_candidate
  unsigned low;        ///< the magnitude's low word; 0 for floats
  int position;        ///< the current position of the candidate's row under LAPACK's row exchanges
  unsigned sign_word;  ///< the high word of the value, with its sign
};
constexpr unsigned candidate_bit = 0x80000000u;
constexpr Candidate no_candidate = {0, 0, no_row, 0};

__device__ __forceinline__ Candidate candidate(double value, int position) {
  const auto high = static_cast<unsigned>(__double2hiint(value));
  return {high | candidate_bit, static_cast<unsigned>(__double2loint(value)), position, high};
}
__device__ __forceinline__ Candidate candidate(float value, int position) {
  const unsigned bits = __float_as_uint(value);
  return {bits | candidate_bit, 0, position, bits};
}
/// Returns the candidate's value. The second parameter only selects the type.
__device__ __forceinline__ double value_of(const Candidate& c, double) {
  return __hiloint2double(static_cast<int>(c.sign_word), static_cast<int>(c.low));
}
__device__ __forceinline__ float value_of(const Candidate& c, float) {
  return __uint_as_float(c.sign_word);
}
/// Returns true if c's magnitude is larger, or equal with a smaller position. Evaluates all conditions, which
/// is faster than branches.
__device__ __forceinline__ bool is_better(const Candidate& c, const Candidate& than) {
  const auto magnitude = static_cast<unsigned long long>(c.high) << 32 | c.low;
  const auto other = static_cast<unsigned long long>(than.high) << 32 | than.low;
  return (magnitude > other) | ((magnitude == other) & (c.position < than.position));
}
__device__ __forceinline__ bool is_zero(const Candidate& c) {
  return c.high == candidate_bit && c.low == 0;
}
/// Returns true if the candidate's exponent shows that its reciprocal is a normal number (LAPACK's sfmin
/// test): if its magnitude is in [2^-1021, 2^1021) in double, or in [2^-125, 2^125) in float. The unsigned
/// subtraction tests both limits in one comparison.
__device__ __forceinline__ bool has_reciprocal(const Candidate& c, double) {
  return c.high - (candidate_bit + 0x00200000u) < 0x7fc00000u - 0x00200000u;
}
__device__ __forceinline__ bool has_reciprocal(const Candidate& c, float) {
  return c.high - (candidate_bit + 0x01000000u) < 0x7e000000u - 0x01000000u;
}

#if GAUSSWEEP_CLUSTERS

/// Returns the lane with the largest candidate of the warp by three warp reductions; ties go to the smallest
/// position. `of_lane`: the lane's candidate.
__device__ __forceinline__ int best_lane(const Candidate& of_lane) {
  constexpr unsigned all = 0xffffffffu;
  bool largest = __reduce_max_sync(all, of_lane.high) == of_lane.high;
  const unsigned low = largest ? of_lane.low : 0u;
  largest = __reduce_max_sync(all, low) == low && largest;
  const unsigned position = static_cast<unsigned>(largest ? of_lane.position : no_row);
  const bool first = __reduce_min_sync(all, position) == position;
  return __ffs(static_cast<int>(__ballot_sync(all, largest && first))) - 1;
}

/// The lane of a warp with the largest candidate, found by one warp reduction; best_lane takes three.
/// Compares only the candidates' high words, in which the lane's index replaces the lowest five bits.
struct WarpArgmax {
  int lane;            ///< the lane; 0 if there is no candidate
  unsigned near_ties;  ///< mask of the lanes whose high words agree with the largest except in these bits
  /// Returns true if several lanes are near ties, so that best_lane must decide.
  __device__ __forceinline__ bool is_ambiguous() const { return (near_ties & (near_ties - 1)) != 0; }
};
/// Returns the choice among the candidates' high words, one per lane; 0 means no candidate. The lowest five
/// bits are replaced by 31 - lane, from which the lane of the largest word is recovered.
__device__ __forceinline__ WarpArgmax warp_argmax(unsigned high) {
  constexpr unsigned all = 0xffffffffu;
  const unsigned largest = __reduce_max_sync(all, (high & ~31u) | (31 - threadIdx.x % 32));
  return {static_cast<int>(31 - largest % 32), __ballot_sync(all, (high ^ largest) < 32 && high != 0)};
}

/// Returns an approximation of 1 / value.
__device__ __forceinline__ double approximate_reciprocal(double value) {
#ifdef __CUDA_ARCH__
  double estimate;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(estimate) : "d"(value));
  return estimate;
#else
  return 1 / value;
#endif
}
__device__ __forceinline__ float approximate_reciprocal(float value) {
#ifdef __CUDA_ARCH__
  float estimate;  // not __frcp_rn: lanes with 0 would send the warp through its slow path
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(estimate) : "f"(value));
  return estimate;
#else
  return 1 / value;
#endif
}
/// Returns sign / value to about one ulp, if has_reciprocal holds for the value; `sign` is 1 or -1.
template <int sign = 1>
__device__ __forceinline__ double reciprocal(double value) {
  const double estimate = approximate_reciprocal(value);
  const double error = std::fma(-value, estimate, 1.0);  // 1 / value = estimate (1 + error + error^2 + ...)
  return std::fma(sign * estimate, std::fma(error, error, error), sign * estimate);
}
template <int sign = 1>
__device__ __forceinline__ float reciprocal(float value) {
  const float estimate = approximate_reciprocal(value);
  return std::fma(sign * estimate, std::fma(-value, estimate, 1.0f), sign * estimate);
}

/// Loads a candidate from a shared memory address (simt::shared_address).
__device__ __forceinline__ Candidate load_candidate(unsigned address) {
  unsigned words[4];
  simt::load_pack(address, words);
  return {words[0], words[1], static_cast<int>(words[2]), words[3]};
}

#endif

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail
