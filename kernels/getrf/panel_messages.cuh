#pragma once
/// Candidates for the pivot of a column, and their comparison.

#include <cmath>
#include <cstdint>

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail {

/// Returns the bits of |value|, which are ordered like the values.
__device__ __forceinline__ unsigned magnitude(float value) {
  return __float_as_uint(value) & 0x7fffffffu;
}

constexpr int no_row = 0x7fffffff;

/// A candidate for the pivot, as sent to other blocks. Its magnitude takes two words. `high` has its highest
/// bit set, so that every candidate is larger than `no_candidate`. `position`: the current index of the
/// candidate's row. `sign_word`: the word of the value that contains the sign.
struct alignas(16) Candidate {
  unsigned high, low;
  int position;
  unsigned sign_word;
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
/// test).
__device__ __forceinline__ bool has_reciprocal(const Candidate& c, double) {
  return c.high - (candidate_bit + 0x00200000u) < 0x7fc00000u - 0x00200000u;
}
__device__ __forceinline__ bool has_reciprocal(const Candidate& c, float) {
  return c.high - (candidate_bit + 0x01000000u) < 0x7e000000u - 0x01000000u;
}

#if GAUSSWEEP_CLUSTERS

/// Returns the lane with the largest candidate of the warp; ties go to the smallest position.
__device__ __forceinline__ int best_lane(const Candidate& mine) {
  constexpr unsigned all = 0xffffffffu;
  bool largest = __reduce_max_sync(all, mine.high) == mine.high;
  const unsigned low = largest ? mine.low : 0u;
  largest = __reduce_max_sync(all, low) == low && largest;
  const unsigned position = static_cast<unsigned>(largest ? mine.position : no_row);
  const bool first = __reduce_min_sync(all, position) == position;
  return __ffs(static_cast<int>(__ballot_sync(all, largest && first))) - 1;
}

/// The lane with the largest candidate, found by comparing the high words without their lowest five bits; the
/// first lane if there is no candidate. Ambiguous if the high words of two candidates differ only in these
/// bits: then best_lane must decide. Takes one warp reduction instead of best_lane's three.
struct Choice {
  int lane;
  unsigned near_ties;  ///< mask of the lanes whose high words agree with the largest except in these bits
  __device__ __forceinline__ bool is_ambiguous() const { return (near_ties & (near_ties - 1)) != 0; }
};
__device__ __forceinline__ Choice choose(unsigned high) {
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
  const double error = std::fma(-value, estimate, 1.0);
  return std::fma(sign * estimate, std::fma(error, error, error), sign * estimate);
}
template <int sign = 1>
__device__ __forceinline__ float reciprocal(float value) {
  const float estimate = approximate_reciprocal(value);
  return std::fma(sign * estimate, std::fma(-value, estimate, 1.0f), sign * estimate);
}

/// Loads a candidate from a shared memory address (simt).
__device__ __forceinline__ Candidate load_candidate(unsigned address) {
  unsigned words[4];
  simt::load_pack(address, words);
  return {words[0], words[1], static_cast<int>(words[2]), words[3]};
}

#endif

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail
