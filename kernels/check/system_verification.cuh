#pragma once
/// Device functions that small_systems.cuh and large_systems.cuh share: reductions over lanes, compensated
/// sums of products, and the check that a ratio is accurate enough.
/// The ratio of an answer is its residual divided by an error bound: for LU, without terms for underflow, ||P
/// A - L U||_1 / (n u ||A||_1). check.hpp defines it for each problem. u is the unit roundoff of T: 2^-24 or
/// 2^-53.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/check/device_product.cuh"
#include "kernels/check/systems.hpp"
#include "kernels/matrix/element.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::verification {

using gaussweep::verification::RatioTotals;

/// A team of LanesPerSystem neighbouring lanes of a warp verifies one system. The function lane_of returns
/// the lane's index in its team, and mask_of returns the warp mask of the team's lanes.
template <int LanesPerSystem>
__device__ __forceinline__ int lane_of() {
  return static_cast<int>(threadIdx.x) % LanesPerSystem;
}
template <int LanesPerSystem>
__device__ __forceinline__ unsigned mask_of() {
  return LanesPerSystem == 32
             ? 0xffffffffu
             : ((1u << (LanesPerSystem % 32)) - 1) << (threadIdx.x % 32 / LanesPerSystem * LanesPerSystem);
}

/// Return the bits of a double, and the double with these bits. The bits of nonnegative numbers, read as
/// integers, have the same order as the numbers.
__device__ __forceinline__ unsigned long long bits_of(double value) {
  unsigned long long bits = 0;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
__device__ __forceinline__ double double_of(unsigned long long bits) {
  double value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}

template <int LanesPerSystem>
__device__ __forceinline__ double sum_of_lanes(double value) {
  GAUSSWEEP_UNROLL
  for (int offset = LanesPerSystem / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(mask_of<LanesPerSystem>(), value, offset);
  return value;
}
/// Returns the largest of nonnegative values; NaN if one is NaN, because its bits are the largest.
template <int LanesPerSystem>
__device__ __forceinline__ double largest_of_lanes(double value) {
  unsigned long long bits = bits_of(value);
  GAUSSWEEP_UNROLL
  for (int offset = LanesPerSystem / 2; offset > 0; offset /= 2)
    bits = max(bits, __shfl_xor_sync(mask_of<LanesPerSystem>(), bits, offset));
  return double_of(bits);
}

/// Divides. As with WideNumber, 0 / 0 is 0, and x / 0 is the largest double.
__device__ __forceinline__ double safe_quotient(double numerator, double divisor) {
  return numerator == 0 ? 0
         : divisor > 0  ? min(numerator / divisor, 1.7976931348623157e308)
                        : 1.7976931348623157e308;
}

/// The smallest normal number of T. tiles::splits<T> (tile_sums.hpp) is true for double and false for float.
template <class T>
constexpr double smallest_normal = tiles::splits<T> ? 0x1p-1022 : 0x1p-126;

/// A compensated sum of products, represented as high - bias + low. The caller sets `high` to the bias
/// (bias_of) before the first addition.
///
/// In float, products are exact in double, the bias is 0 and `low` stays 0. In double, the bias is so large
/// that bias + (partial sum) always has the same exponent. The rounding error of each addition is then
/// representable as a double, and the second FMA computes it exactly.
template <class T>
struct BiasedSum {
  double high = 0, low = 0;
  __device__ __forceinline__ void add(double a, double b) {
    const double next = std::fma(a, b, high);  // float: the product is exact
    if (tiles::splits<T>) low += std::fma(a, b, high - next);
    high = next;
  }
  /// Returns |c - sum|.
  __device__ __forceinline__ double difference_to(double c, double bias) const {
    double error = 0;
    tiles::two_sum(c, bias - high, error);  // c becomes c + (bias - high), without `error`
    return fabs(c + (error - low));
  }
};

/// Returns true if sums and products of values up to `largest` do not overflow, and if underflow does not
/// affect them noticeably.
template <class T>
__device__ __forceinline__ bool is_within_exponent_range(double largest) {
  return largest == 0 || (largest >= 0x1p-200 && largest <= (tiles::splits<T> ? 0x1p200 : 0x1p100));
}

constexpr unsigned long long bits_of_nan = 0x7ff8000000000000ull, bits_of_infinity = 0x7ff0000000000000ull;

/// Returns infinity if an element is not finite. Returns NaN, so that the CPU verifies the system, if an
/// operand's largest element is outside of the range of is_within_exponent_range. Otherwise returns 0.
template <class T>
__device__ __forceinline__ double ratio_if_out_of_range(double max_a, double max_x, double max_b) {
  const double sum = max_a + max_x + max_b;
  if (sum - sum != 0) return double_of(bits_of_infinity);
  return is_within_exponent_range<T>(max_a) && is_within_exponent_range<T>(max_x) &&
                 is_within_exponent_range<T>(max_b)
             ? 0
             : double_of(bits_of_nan);
}

/// The operands of system s.
template <class T>
struct BatchSystem {
  DeviceOperand<T> a, b, x;
  __device__ __forceinline__ BatchSystem(const BatchToVerify<T>& systems, std::int64_t s)
      : a(operand(systems.a, systems.a_shape, systems.part_of_a, s)),
        b(operand(systems.b, systems.b_shape, MatrixPart::all, s)),
        x(operand(systems.x, systems.x_shape, systems.part_of_x, s)) {}
  static __device__ __forceinline__ DeviceOperand<T> operand(const T* data, const Extent& e, MatrixPart part,
                                                             std::int64_t s) {
    return {data + s * e.rows * e.cols, /*row_stride=*/1,  /*col_stride=*/e.rows, e.rows, e.cols, part,
            /*unit_diagonal=*/false,    /*absolute=*/false};
  }
};
template <class T>
__device__ __forceinline__ DeviceOperand<T> in_part(DeviceOperand<T> m, MatrixPart part) {
  m.part = part;
  return m;
}
template <class T>
__device__ __forceinline__ DeviceOperand<T> transposed(const DeviceOperand<T>& m) {
  const MatrixPart part = m.part == MatrixPart::lower   ? MatrixPart::upper
                          : m.part == MatrixPart::upper ? MatrixPart::lower
                                                        : MatrixPart::all;
  return {m.data, m.col_stride, m.row_stride, m.cols, m.rows, part, m.unit_diagonal, m.absolute};
}
/// Returns the matrix, or its transpose if the stored triangle is the upper one.
template <class T>
__device__ __forceinline__ DeviceOperand<T> as_lower(const DeviceOperand<T>& m) {
  return m.part == MatrixPart::upper ? transposed(m) : m;
}

/// The number of rows and of terms of a product, and the largest |element| of each operand.
struct ProductSizes {
  double rows, terms, max_left, max_right;
};
/// Returns the bias with which the sums start (BiasedSum).
template <class T>
__device__ __forceinline__ double bias_of(const ProductSizes& sizes) {
  // The bias is 3 * 2^e, where 2^e exceeds every |partial sum|. Therefore 2^(e+1) < bias + (partial sum) <
  // 2^(e+2).
  return tiles::splits<T> ? 3 * times_power(1, exponent_of(sizes.terms * sizes.max_left * sizes.max_right))
                          : 0;
}
/// Returns the ratio, or NaN if it is not accurate enough; the CPU then verifies the system. NaN is returned
/// if the error bound exceeds 2^-12 max(1, ratio), or if the interval ratio ± bound contains a limit between
/// two statuses: the tolerance (`pass` or `suspect`) or ten times the tolerance (`suspect` or `failed`).
/// @param divisor the number by which the residual was divided
template <class T>
__device__ __forceinline__ double ratio_if_decided(double ratio, const ProductSizes& sizes, double divisor,
                                                   double tolerance) {
  // Bounds the error of a sum, with m = terms and x = max_left max_right. Float: each of the m additions to
  // `high` rounds by at most 2^-53 of a partial sum, which is at most m x. The total is below 2^-52 m^2 x.
  // Double: each addition to `high` rounds by at most 2^-51 m x, so that `low` is at most 2^-51 m^2 x. Each
  // of the m additions to `low` rounds by 2^-53 of it. The total is below 2^-102 m^3 x.
  const double sum_error = (tiles::splits<T> ? sizes.terms * 0x1p-102 : 0x1p-52) * sizes.terms * sizes.terms *
                           sizes.max_left * sizes.max_right;
  const double bound = safe_quotient(sum_error * sizes.rows, divisor) + 0x1p-40 * ratio;
  const auto bound_spans = [&](double limit) { return ratio - bound <= limit && limit < ratio + bound; };
  const bool accurate = bound <= 0x1p-12 * max(1.0, ratio);
  return accurate && !bound_spans(tolerance) && !bound_spans(10 * tolerance) ? ratio : double_of(bits_of_nan);
}
/// Returns the ratio of an inverse (verifiers::left_or_right_inverse). If the ratio of I - A X exceeds
/// `other_side_threshold`, the ratio of I - X A is computed too, and the smaller one counts.
///
/// Returns NaN, so that the CPU verifies the system, if the first ratio is so
/// close to the threshold that the CPU might decide differently whether to compute I - X A.
/// @param ratio_of_side ratio_of_side(false) returns the ratio of I - A X, ratio_of_side(true) that of I - X
/// A. All threads get the same result
template <class RatioOfSide>
__device__ __forceinline__ double ratio_of_sides(double other_side_threshold, RatioOfSide&& ratio_of_side) {
  constexpr double margin = 0x1p-10;  // exceeds the error of a ratio that `ratio_if_decided` accepts
  double ratio = 0;
  GAUSSWEEP_ROLLED
  for (int side = 0; side < 2; ++side) {
    const double value = ratio_of_side(side == 1);
    if (side == 1) return value >= ratio ? ratio : value;
    ratio = value;
    if (!(ratio > other_side_threshold - margin)) break;
    if (ratio < other_side_threshold + margin) return double_of(bits_of_nan);
  }
  return ratio;
}
/// Returns the factor in the divisor of the ratio that counts roundings: n u, or sqrt(k + 2) u for a product
/// (u: the unit roundoff).
template <RatioKind kind, class T>
__device__ __forceinline__ double roundoff_factor(const Shape& shape) {
  const double roundoff = tiles::splits<T> ? 0x1p-53 : 0x1p-24;
  return roundoff * (kind == RatioKind::product ? std::sqrt(static_cast<double>(shape.k) + 2)
                                                : static_cast<double>(shape.n));
}

/// Returns LAPACK's info of LU factors: the first row (from 1) with a zero pivot, or 0.
/// @param zero_pivot_from_end n - i, where i (from 0) is the first row with a zero pivot; 0 if there is none.
/// As the maximum of n - i over all such rows, it results from a maximum over threads
__device__ __forceinline__ int info_of(double zero_pivot_from_end, int n) {
  return zero_pivot_from_end == 0 ? 0 : n + 1 - static_cast<int>(zero_pivot_from_end);
}

__device__ __forceinline__ void atomic_max_if_larger(unsigned long long* maximum, unsigned long long value) {
  if (value > simt::load_volatile(maximum)) atomicMax(maximum, value);
}

/// Stores a system's ratio and updates the totals; called by one thread.
/// @param error the forward error of X, negative if unknown. Its bits + 1 are stored, so that 0 means that no
/// error is known
template <class T>
__device__ __forceinline__ void record_ratio(const BatchToVerify<T>& systems, std::int64_t s, double ratio,
                                             double error, double* ratios, RatioTotals* totals) {
  ratios[s] = ratio;
  if (error >= 0) atomic_max_if_larger(&totals->max_error, bits_of(error) + 1);
  if (systems.infos[s] == 0 && ratio <= systems.tolerance) {
    atomic_max_if_larger(&totals->max_ratio, bits_of(ratio));
  } else {
    atomicAdd(&totals->not_passed, 1ull);
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::verification
