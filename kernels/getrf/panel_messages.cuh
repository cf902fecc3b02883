#pragma once
/// Candidates for the pivot of a column, and which of them is it.

#include <cmath>
#include <cstdint>

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail {

/// |value| as bits that compare like it.
__device__ __forceinline__ unsigned long long magnitude(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(value)) & 0x7fffffffffffffffull;
}
__device__ __forceinline__ unsigned magnitude(float value) {
  return __float_as_uint(value) & 0x7fffffffu;
}

constexpr int nobody = 0x7fffffff;

/// What a block tells the others of its candidate for the pivot: its magnitude in two words, the position of
/// its row, and the word of its value that holds the sign.
struct alignas(16) Candidate {
  unsigned high, low;
  int position;
  unsigned with_sign;
};
__device__ __forceinline__ Candidate candidate(double value, int position) {
  const auto high = static_cast<unsigned>(__double2hiint(value));
  return {high & 0x7fffffffu, static_cast<unsigned>(__double2loint(value)), position, high};
}
__device__ __forceinline__ Candidate candidate(float value, int position) {
  const unsigned bits = __float_as_uint(value);
  return {bits & 0x7fffffffu, 0, position, bits};
}
__device__ __forceinline__ double value_of(const Candidate& c, double) {
  return __hiloint2double(static_cast<int>(c.with_sign), static_cast<int>(c.low));
}
__device__ __forceinline__ float value_of(const Candidate& c, float) {
  return __uint_as_float(c.with_sign);
}
/// Whether the reciprocal of the candidate is a normal number, as LAPACK's sfmin asks; by its exponent.
__device__ __forceinline__ bool has_reciprocal(const Candidate& c, double) {
  return c.high - 0x00200000u < 0x7fc00000u - 0x00200000u;
}
__device__ __forceinline__ bool has_reciprocal(const Candidate& c, float) {
  return c.high - 0x01000000u < 0x7e000000u - 0x01000000u;
}

#if GAUSSWEEP_CLUSTERS

/// Of a warp's candidates the largest, whose high word is `most`, those of lanes `equal`; of equal ones that
/// of the smallest position. Says which lane's it is.
__device__ __forceinline__ int best_of_equal(const Candidate& mine, unsigned most, unsigned equal) {
  constexpr unsigned all = 0xffffffffu;
  if (__popc(equal) > 1) {  // rare, but in matrices of small integers
    const unsigned low = mine.high == most ? mine.low : 0u;
    const bool largest = __reduce_max_sync(all, low) == low && mine.high == most;
    const unsigned position = static_cast<unsigned>(largest ? mine.position : nobody);
    const unsigned first = __reduce_min_sync(all, position);
    equal = __ballot_sync(all, largest && position == first);
  }
  return __ffs(static_cast<int>(equal)) - 1;
}
__device__ __forceinline__ int best_lane(const Candidate& mine) {
  constexpr unsigned all = 0xffffffffu;
  const unsigned most = __reduce_max_sync(all, mine.high);
  return best_of_equal(mine, most, __ballot_sync(all, mine.high == most));
}

/// 1 / value to the last bit or the one before it, for a value that has_reciprocal.
__device__ __forceinline__ double reciprocal(double value) {
#ifdef __CUDA_ARCH__
  double guess;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(value));
#else
  const double guess = 1 / value;
#endif
  const double error = std::fma(-value, guess, 1.0);
  return std::fma(guess, std::fma(error, error, error), guess);
}
__device__ __forceinline__ float reciprocal(float value) {
#ifdef __CUDA_ARCH__
  float guess;  // not __frcp_rn: lanes that hold 0 would send their warp through its slow way
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(value));
#else
  const float guess = 1 / value;
#endif
  return std::fma(guess, std::fma(-value, guess, 1.0f), guess);
}

/// A candidate in shared memory, at an address as simt has them.
__device__ __forceinline__ Candidate load_candidate(unsigned address) {
  unsigned words[4];
  simt::load_pack(address, words);
  return {words[0], words[1], static_cast<int>(words[2]), words[3]};
}
__device__ __forceinline__ void store_candidate(unsigned address, const Candidate& c) {
  const unsigned words[4] = {c.high, c.low, static_cast<unsigned>(c.position), c.with_sign};
  simt::store_pack(address, words);
}
__device__ __forceinline__ void send_candidate(unsigned address, unsigned barrier, const Candidate& c) {
  const unsigned words[4] = {c.high, c.low, static_cast<unsigned>(c.position), c.with_sign};
  simt::send_pack(address, barrier, words);
}

#endif

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail
