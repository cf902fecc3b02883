#pragma once
/// What the judge's products on the CPU (residual.cpp) and on a device (device_product.cuh) share: a single
/// element's arithmetic.

#include <type_traits>

#include "kernels/residual/operand.hpp"

namespace gaussweep::tiles {

/// Whether elements are split: those of float have few enough bits for exact products.
template <class T>
constexpr bool splits = std::is_same_v<T, double>;

/// Of a sum's error, a term: in units of its row's times its column's largest element. In double the low sums
/// of a block are k 2^-24 after k terms. So 32 roundings of them are 341 2^-77, 10.7 a term. Products and the
/// sum of two add 1, and the low sum's last roundings 2: below 16.
template <class T>
constexpr double error_of_term = splits<T> ? 0x1p-73 : 0x1p-48;

/// The multiple of 2^-24 next to x, |x| <= 1.
GAUSSWEEP_SHARED_INLINE double high_part(double x) {
  constexpr double pusher = 0x1.8p28;  // ends at 2^-24 with any such x added
  return (x + pusher) - pusher;
}

/// 2^-exponent in two factors: of the smallest numbers it is more than a double holds.
struct Divisor {
  double first, second;
};
GAUSSWEEP_SHARED_INLINE Divisor divisor_of(int exponent) {
  const int near = exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent;
  return {times_power(1, near), times_power(1, -exponent - near)};
}

/// sum += term, what that rounds off into `off`.
GAUSSWEEP_SHARED_INLINE void two_sum(double& sum, double term, double& off) {
  const double total = sum + term;
  const double share = total - sum;
  off = (sum - (total - share)) + (term - share);
  sum = total;
}

/// |c - (high + low) 2^exponent|
GAUSSWEEP_SHARED_INLINE Scaled residual_of(double c, double high, double low, std::int64_t exponent) {
  const std::int64_t own = exponent_of(c);
  const std::int64_t unit = c == 0 || own < exponent ? exponent : own;
  const double target = times_power(c, -unit);
  const double product = times_power(high, exponent - unit);
  const double total = target - product;
  const double share = total - target;
  const double off = (target - (total - share)) - (product + share);
  const double rest = times_power(low, exponent - unit);
  return Scaled(total + (off - rest), unit);
}

GAUSSWEEP_SHARED_INLINE void include(Scaled& all, const Scaled& one, Measure measure) {
  if (measure == Measure::largest) {
    if (all < one) all = one;
  } else {
    all = all + (measure == Measure::squares ? one * one : one);
  }
}

}  // namespace gaussweep::tiles
