#pragma once
/// The arithmetic of one element, shared by verification's products on the CPU (residual.cpp) and on a device
/// (device_product.cuh).

#include <type_traits>

#include "kernels/check/operand.hpp"

namespace gaussweep::tiles {

/// True if elements are split into high and low parts, whose products are exact in double. Products of two
/// floats are exact without splitting.
template <class T>
constexpr bool splits = std::is_same_v<T, double>;

/// An error bound per term of a sum over k of l_ik r_kj, relative to max_k |l_ik| max_k |r_kj|. In double the
/// low sum of a block of 32 terms reaches k 2^-24 after k terms. The rounding error of addition k is at most
/// 2^(ceil(log2 k) - 1) 2^-77. The 32 rounding errors add up to 341 * 2^-77, i.e. 10.7 * 2^-77 per term. Per
/// term, rounding the products and the sum of two products adds 1 * 2^-77. The last roundings of the low sum
/// add 2 * 2^-77. The total is below 16 * 2^-77 = 2^-73.
template <class T>
constexpr double error_of_term = splits<T> ? 0x1p-73 : 0x1p-48;

/// Returns x, |x| <= 1, rounded to a multiple of 2^-24.
GAUSSWEEP_SHARED_INLINE double high_part(double x) {
  constexpr double rounder = 0x1.8p28;  // the last bit of rounder + x is 2^-24
  return (x + rounder) - rounder;
}

/// The power 2^-exponent as a product of two factors, because for tiny elements the power itself exceeds the
/// range of double.
struct Divisor {
  double first, second;
};
GAUSSWEEP_SHARED_INLINE Divisor divisor_of(int exponent) {
  const int first_exponent = exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent;
  return {times_power(1, first_exponent), times_power(1, -exponent - first_exponent)};
}

/// Adds `term` to `sum` and sets `error` to the rounding error (Knuth's TwoSum).
GAUSSWEEP_SHARED_INLINE void two_sum(double& sum, double term, double& error) {
  const double total = sum + term;
  const double rounded_term = total - sum;
  error = (sum - (total - rounded_term)) + (term - rounded_term);
  sum = total;
}

/// Returns |c - (high + low) 2^exponent|.
GAUSSWEEP_SHARED_INLINE WideNumber residual_of(double c, double high, double low, std::int64_t exponent) {
  const std::int64_t c_exponent = exponent_of(c);
  const std::int64_t common_exponent = c == 0 || c_exponent < exponent ? exponent : c_exponent;
  const double target = times_power(c, -common_exponent);
  const double product = times_power(high, exponent - common_exponent);
  const double total = target - product;
  const double rounded_term = total - target;
  const double error = (target - (total - rounded_term)) - (product + rounded_term);
  const double rest = times_power(low, exponent - common_exponent);
  return WideNumber(total + (error - rest), common_exponent);
}

/// Includes the magnitude of one residual element in the measure of a column.
GAUSSWEEP_SHARED_INLINE void include(WideNumber& accumulated, const WideNumber& magnitude, Measure measure) {
  if (measure == Measure::largest) {
    if (accumulated < magnitude) accumulated = magnitude;
  } else {
    accumulated = accumulated + (measure == Measure::squares ? magnitude * magnitude : magnitude);
  }
}

}  // namespace gaussweep::tiles
