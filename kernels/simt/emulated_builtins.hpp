#pragma once
/// CUDA's built-in variables and functions for emulated kernels. Part of emulated.hpp. If the rules of the
/// CUDA C++ Programming Guide differ between architectures, the strictest rules apply.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/simt/emulated_block.hpp"

namespace gaussweep::emulated {

inline constexpr int warpSize = 32;
inline constexpr const simt::uint3& threadIdx = simt::detail::thread_index;
inline constexpr const simt::uint3& blockIdx = simt::detail::block_index;
inline constexpr const simt::dim3& blockDim = simt::detail::block_dim;
inline constexpr const simt::dim3& gridDim = simt::detail::grid_dim;

// Barriers and fences. Fences need no code, because threads run one at a time.

inline void __syncthreads(simt::SourceLocation site = simt::SourceLocation::current()) {
  simt::detail::barrier(site);
}
inline void __syncwarp(unsigned mask = 0xffffffffu,
                       simt::SourceLocation site = simt::SourceLocation::current()) {
  simt::detail::collective(simt::detail::Collective::sync, mask, /*value=*/0, /*source=*/0, site);
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

// Votes and shuffles. As in CUDA, a vote or shuffle does not wait for lanes that have returned or do not
// exist. In CUDA a value from such a lane, or from a lane outside of the mask, is undefined. Here all bits of
// the value are set (NaN or -1).

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              simt::SourceLocation site = simt::SourceLocation::current()) {
  return simt::detail::collective(simt::detail::Collective::vote, mask, predicate != 0, /*source=*/0, site)
      .ballot;
}
inline int __any_sync(unsigned mask, int predicate,
                      simt::SourceLocation site = simt::SourceLocation::current()) {
  return __ballot_sync(mask, predicate, site) != 0;
}
inline int __all_sync(unsigned mask, int predicate,
                      simt::SourceLocation site = simt::SourceLocation::current()) {
  return __ballot_sync(mask, !predicate, site) == 0;
}

namespace simt::detail {

/// Returns the maximum of `value` over the lanes of the mask, or the minimum if all bits of `flip` are set.
/// The minimum is the value whose complement is largest.
inline unsigned reduce_max(unsigned mask, unsigned value, unsigned flip, SourceLocation site) {
  unsigned largest = value ^ flip;
  for (int i = 0; i < 32; ++i) {
    if ((mask >> i & 1u) == 0) continue;
    const auto other = static_cast<unsigned>(collective(Collective::shuffle, mask, value, i, site).value);
    if ((other ^ flip) > largest) largest = other ^ flip;
  }
  return largest ^ flip;
}

}  // namespace simt::detail

inline unsigned __reduce_max_sync(unsigned mask, unsigned value,
                                  simt::SourceLocation site = simt::SourceLocation::current()) {
  return simt::detail::reduce_max(mask, value, /*flip=*/0, site);
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value,
                                  simt::SourceLocation site = simt::SourceLocation::current()) {
  return simt::detail::reduce_max(mask, value, /*flip=*/~0u, site);
}

namespace simt::detail {

template <class T>
T shuffle(unsigned mask, T value, int source, SourceLocation site) {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "32 or 64 bits can be shuffled");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = collective(Collective::shuffle, mask, bits, source, site).value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
/// Returns the first lane of the running thread's segment of `width` lanes.
inline int segment(int width, SourceLocation site) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0) throw_bad_width(width, site);
  return lane() & ~(width - 1);
}

}  // namespace simt::detail

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize,
              simt::SourceLocation site = simt::SourceLocation::current()) {
  const int first = simt::detail::segment(width, site);
  return simt::detail::shuffle(mask, value, first + (source & (width - 1)), site);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                 simt::SourceLocation site = simt::SourceLocation::current()) {
  const int own_lane = simt::detail::lane(), first = simt::detail::segment(width, site);
  const bool inside = delta <= static_cast<unsigned>(own_lane - first);
  return simt::detail::shuffle(mask, value, inside ? own_lane - static_cast<int>(delta) : own_lane, site);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   simt::SourceLocation site = simt::SourceLocation::current()) {
  const int own_lane = simt::detail::lane(), last = simt::detail::segment(width, site) + width - 1;
  const bool inside = delta <= static_cast<unsigned>(last - own_lane);
  return simt::detail::shuffle(mask, value, inside ? own_lane + static_cast<int>(delta) : own_lane, site);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize,
                  simt::SourceLocation site = simt::SourceLocation::current()) {
  const int own_lane = simt::detail::lane(), last = simt::detail::segment(width, site) + width - 1;
  // CUDA allows reads from lower segments, but not from higher ones.
  const int source = own_lane ^ (lane_mask & 31);
  return simt::detail::shuffle(mask, value, source <= last ? source : own_lane, site);
}

// Atomics return the old value. An atomic that does not change the value counts as a poll, because it may be
// part of a spin loop.

namespace simt::detail {

template <class T, class... Allowed>
constexpr bool one_of = (... || std::is_same_v<T, Allowed>);

/// Stores `value` and returns the old value: the last step of every atomic.
template <class T>
T exchange(T* p, T value, SourceLocation site) {
  const T old = *p;
  *p = value;
  if (std::memcmp(&old, &value, sizeof(T)) != 0) {
    progress = true;
  } else {
    poll(p, site);
  }
  return old;
}

}  // namespace simt::detail

template <class T>
T atomicAdd(T* p, std::common_type_t<T> value, simt::SourceLocation site = simt::SourceLocation::current()) {
  static_assert(simt::detail::one_of<T, int, unsigned, unsigned long long, float, double>);
  if constexpr (std::is_same_v<T, int>) {  // wraps around
    return simt::detail::exchange(
        p, static_cast<int>(static_cast<unsigned>(*p) + static_cast<unsigned>(value)), site);
  } else {
    return simt::detail::exchange(p, static_cast<T>(*p + value), site);
  }
}
template <class T>
T atomicExch(T* p, std::common_type_t<T> value, simt::SourceLocation site = simt::SourceLocation::current()) {
  static_assert(simt::detail::one_of<T, int, unsigned, unsigned long long, float>);
  return simt::detail::exchange(p, value, site);
}
template <class T>
T atomicCAS(T* p, std::common_type_t<T> expected, std::common_type_t<T> value,
            simt::SourceLocation site = simt::SourceLocation::current()) {
  static_assert(simt::detail::one_of<T, int, unsigned, unsigned long long>);
  return simt::detail::exchange(p, *p == expected ? value : *p, site);
}
template <class T>
T atomicMax(T* p, std::common_type_t<T> value, simt::SourceLocation site = simt::SourceLocation::current()) {
  static_assert(simt::detail::one_of<T, int, unsigned, unsigned long long, long long>);
  return simt::detail::exchange(p, *p < value ? value : *p, site);
}
template <class T>
T atomicMin(T* p, std::common_type_t<T> value, simt::SourceLocation site = simt::SourceLocation::current()) {
  static_assert(simt::detail::one_of<T, int, unsigned, unsigned long long, long long>);
  return simt::detail::exchange(p, value < *p ? value : *p, site);
}
template <class T>
T atomicOr(T* p, std::common_type_t<T> value, simt::SourceLocation site = simt::SourceLocation::current()) {
  static_assert(simt::detail::one_of<T, int, unsigned, unsigned long long>);
  return simt::detail::exchange(p, static_cast<T>(*p | value), site);
}
template <class T>
T atomicAnd(T* p, std::common_type_t<T> value, simt::SourceLocation site = simt::SourceLocation::current()) {
  static_assert(simt::detail::one_of<T, int, unsigned, unsigned long long>);
  return simt::detail::exchange(p, static_cast<T>(*p & value), site);
}

// Reinterpretation of bits.

inline long long __double_as_longlong(double value) {
  long long bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline double __longlong_as_double(long long bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
inline unsigned __float_as_uint(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline float __uint_as_float(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
inline int __double2hiint(double value) {
  return static_cast<int>(__double_as_longlong(value) >> 32);
}
inline int __double2loint(double value) {
  return static_cast<int>(__double_as_longlong(value));
}
inline double __hiloint2double(int high, int low) {
  const auto bits =
      static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low);
  return __longlong_as_double(static_cast<long long>(bits));
}

template <class T>
T __ldg(const T* p) {
  return *p;
}
inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}

}  // namespace gaussweep::emulated
