#pragma once
/// What the judges of small and of large systems share (system_ratios.cu): lanes of a warp, sums of products,
/// and what a ratio decides.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/matrix/element.hpp"
#include "kernels/residual_device/device_product.cuh"
#include "kernels/residual_device/systems.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::judge {

using gaussweep::judge::Totals;

/// Of N neighbouring lanes of a warp.
template <int N>
__device__ __forceinline__ int lane_of() {
  return static_cast<int>(threadIdx.x) % N;
}
template <int N>
__device__ __forceinline__ unsigned mask_of() {
  return N == 32 ? 0xffffffffu : ((1u << (N % 32)) - 1) << (threadIdx.x % 32 / N * N);
}

__device__ __forceinline__ unsigned long long bits_of(double size) {
  unsigned long long bits = 0;
  memcpy(&bits, &size, sizeof bits);
  return bits;
}
__device__ __forceinline__ double size_of(unsigned long long bits) {
  double size = 0;
  memcpy(&size, &bits, sizeof size);
  return size;
}

template <int N>
__device__ __forceinline__ double sum_of_lanes(double value) {
  GAUSSWEEP_UNROLL
  for (int apart = N / 2; apart > 0; apart /= 2) value += __shfl_xor_sync(mask_of<N>(), value, apart);
  return value;
}
/// Of sizes; NaN, whose bits are above all others', where there is one.
template <int N>
__device__ __forceinline__ double largest_of_lanes(double value) {
  unsigned long long bits = bits_of(value);
  GAUSSWEEP_UNROLL
  for (int apart = N / 2; apart > 0; apart /= 2) bits = max(bits, __shfl_xor_sync(mask_of<N>(), bits, apart));
  return size_of(bits);
}

/// As Scaled divides: 0 / 0 is 0, and anything else by 0 the largest number.
__device__ __forceinline__ double share(double part, double whole) {
  return part == 0 ? 0 : whole > 0 ? min(part / whole, 1.7976931348623157e308) : 1.7976931348623157e308;
}

template <class T>
constexpr double smallest_normal = tiles::splits<T> ? 0x1p-1022 : 0x1p-126;

/// A sum of products, high - bias + low. In double the bias is so large that every sum has its exponent. What
/// a product loses in it is a number, and the next operation finds it.
template <class T>
struct Sum {
  double high = 0, low = 0;
  __device__ __forceinline__ void add(double a, double b) {
    const double next = std::fma(a, b, high);  // of floats the product is exact
    if (tiles::splits<T>) low += std::fma(a, b, high - next);
    high = next;
  }
  /// |c - the sum|
  __device__ __forceinline__ double apart_from(double c, double bias) const {
    double off = 0;
    tiles::two_sum(c, bias - high, off);
    return fabs(c + (off - low));
  }
};

/// Whether sums and products of sizes up to these neither overflow nor lose what a ratio shows.
template <class T>
__device__ __forceinline__ bool is_ordinary(double largest) {
  return largest == 0 || (largest >= 0x1p-200 && largest <= (tiles::splits<T> ? 0x1p200 : 0x1p100));
}

constexpr unsigned long long bits_of_nan = 0x7ff8000000000000ull, bits_of_infinity = 0x7ff0000000000000ull;

/// What the largest elements say before any product: infinity or NaN as system_ratios.hpp has it, or 0.
template <class T>
__device__ __forceinline__ double foregone(double most_a, double most_x, double most_b) {
  const double sizes = most_a + most_x + most_b;
  if (sizes - sizes != 0) return size_of(bits_of_infinity);
  return is_ordinary<T>(most_a) && is_ordinary<T>(most_x) && is_ordinary<T>(most_b) ? 0
                                                                                    : size_of(bits_of_nan);
}

/// The operands of system s.
template <class T>
struct System {
  Elements<T> a, b, x;
  __device__ __forceinline__ System(const Systems<T>& all, std::int64_t s)
      : a(one(all.a, all.of_a, all.part_of_a, s)),
        b(one(all.b, all.of_b, Part::all, s)),
        x(one(all.x, all.of_x, all.part_of_x, s)) {}
  static __device__ __forceinline__ Elements<T> one(const T* all, const Extent& e, Part part,
                                                    std::int64_t s) {
    return {all + s * e.rows * e.cols, 1, e.rows, e.rows, e.cols, part, false, false};
  }
};
template <class T>
__device__ __forceinline__ Elements<T> in_part(Elements<T> m, Part part) {
  m.part = part;
  return m;
}
template <class T>
__device__ __forceinline__ Elements<T> transposed(const Elements<T>& m) {
  const Part part = m.part == Part::lower ? Part::upper : m.part == Part::upper ? Part::lower : Part::all;
  return {m.data, m.across, m.down, m.cols, m.rows, part, m.unit_diagonal, m.absolute};
}
/// So that its lower triangle counts.
template <class T>
__device__ __forceinline__ Elements<T> as_lower(const Elements<T>& m) {
  return m.part == Part::upper ? transposed(m) : m;
}

/// The sizes of a product.
struct Sizes {
  double rows, terms, most_left, most_right;
};
template <class T>
__device__ __forceinline__ double bias_of(const Sizes& of) {
  // Half of it, which is the next power of two at least, holds every sum.
  return tiles::splits<T> ? 3 * times_power(1, exponent_of(of.terms * of.most_left * of.most_right)) : 0;
}
/// The ratio, or NaN where its error leaves a verdict open.
/// @param whole what a residual was divided by
template <class T>
__device__ __forceinline__ double settled(double ratio, const Sizes& of, double whole, double tolerance) {
  // An element's sum is right to this.
  const double of_sum =
      (tiles::splits<T> ? of.terms * 0x1p-102 : 0x1p-52) * of.terms * of.terms * of.most_left * of.most_right;
  const double bound = share(of_sum * of.rows, whole) + 0x1p-40 * ratio;
  const auto is_open = [&](double limit) { return ratio - bound <= limit && limit < ratio + bound; };
  const bool sharp = bound <= 0x1p-12 * max(1.0, ratio);
  return sharp && !is_open(tolerance) && !is_open(10 * tolerance) ? ratio : size_of(bits_of_nan);
}
/// The ratio of the side that counts (judges::either_inverse). NaN if rounding decides whether to look at the
/// other side. @param of_side the ratio of I - A X (false) or I - X A (true), the same in all threads
template <class OfSide>
__device__ __forceinline__ double ratio_of_sides(double second_look, OfSide&& of_side) {
  constexpr double off = 0x1p-10;  // more than `settled` lets a ratio be off
  double ratio = 0;
  GAUSSWEEP_ROLLED
  for (int side = 0; side < 2; ++side) {
    const double own = of_side(side == 1);
    if (side == 1) return own >= ratio ? ratio : own;
    ratio = own;
    if (!(ratio > second_look - off)) break;
    if (ratio < second_look + off) return size_of(bits_of_nan);
  }
  return ratio;
}
/// n u, or what stands for it.
template <Quotient Q, class T>
__device__ __forceinline__ double factor_of(const Shape& shape) {
  const double unit = tiles::splits<T> ? 0x1p-53 : 0x1p-24;
  return unit * (Q == Quotient::product ? std::sqrt(static_cast<double>(shape.k) + 2)
                                        : static_cast<double>(shape.n));
}

/// The info that LU factors should have, of the zero pivots: n - i of row i, 0 of others.
__device__ __forceinline__ int info_of(double zeros_from_end, int n) {
  return zeros_from_end == 0 ? 0 : n + 1 - static_cast<int>(zeros_from_end);
}

__device__ __forceinline__ void take_larger(unsigned long long* most, unsigned long long own) {
  if (own > simt::load_volatile(most)) atomicMax(most, own);
}

/// By one thread. @param error forward error; below 0: none
template <class T>
__device__ __forceinline__ void note(const Systems<T>& all, std::int64_t s, double ratio, double error,
                                     double* ratios, Totals* totals) {
  ratios[s] = ratio;
  if (error >= 0) take_larger(&totals->most_error, bits_of(error) + 1);
  if (all.infos[s] == 0 && ratio <= all.tolerance) {
    take_larger(&totals->most, bits_of(ratio));
  } else {
    atomicAdd(&totals->others, 1ull);
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::judge
