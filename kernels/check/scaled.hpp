#pragma once
/// Nonnegative numbers with a separate 64-bit exponent, so that sums, products and quotients neither overflow
/// nor underflow. They have the same bits on the CPU and in kernels. Functions marked GAUSSWEEP_SHARED_INLINE
/// are compiled for both.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/core/shared_inline.hpp"

namespace gaussweep {

/// Returns x 2^e, exact if the result is a normal number. Smaller results may become 0, larger ones Inf.
GAUSSWEEP_SHARED_INLINE double times_power(double x, std::int64_t e) {
  if (e >= -1022 && e <= 1023) {
    const std::uint64_t bits = static_cast<std::uint64_t>(e + 1023) << 52;
    double power = 0;
    std::memcpy(&power, &bits, sizeof power);
    return x * power;
  }
  return std::ldexp(x, static_cast<int>(std::clamp<std::int64_t>(e, -5000, 5000)));
}

/// Does the same as std::frexp, but inlined: x = result 2^exponent with 0.5 <= |result| < 1. Returns 0, Inf
/// and NaN unchanged.
GAUSSWEEP_SHARED_INLINE double mantissa_of(double x, int& exponent) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  const int biased = static_cast<int>(bits >> 52) & 0x7ff;
  if (biased == 0 || biased == 0x7ff) return std::frexp(x, &exponent);
  exponent = biased - 1022;
  bits = (bits & 0x800fffffffffffffull) | 0x3fe0000000000000ull;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// A nonnegative number mantissa 2^exponent. The mantissa is 0, in [0.5, 1), NaN or Inf.
struct WideNumber {
  double mantissa = 0;
  std::int64_t exponent = 0;

  WideNumber() = default;
  /// Constructs the number |x| 2^e.
  GAUSSWEEP_SHARED_INLINE explicit WideNumber(double x, std::int64_t e = 0) {
    int exponent_of_x = 0;
    mantissa = mantissa_of(std::fabs(x), exponent_of_x);
    exponent = mantissa == 0 ? 0 : e + exponent_of_x;
  }
  /// Converts to double. Finite values out of range become the largest double; values other than 0 become at
  /// least the smallest one.
  GAUSSWEEP_SHARED_INLINE double value() const {
    if (mantissa == 0 || !std::isfinite(mantissa)) return mantissa;
    const double converted = times_power(mantissa, exponent);
    return std::clamp(converted, std::numeric_limits<double>::denorm_min(),
                      std::numeric_limits<double>::max());
  }
};

GAUSSWEEP_SHARED_INLINE WideNumber operator*(const WideNumber& a, const WideNumber& b) {
  return WideNumber(a.mantissa * b.mantissa, a.exponent + b.exponent);
}
/// Divides. 0 / 0 is 0, because a residual of 0 is right for any norm. x / 0 is 2^(2^20), which is larger
/// than any double.
GAUSSWEEP_SHARED_INLINE WideNumber operator/(const WideNumber& a, const WideNumber& b) {
  if (a.mantissa == 0) return a;
  if (b.mantissa == 0) return WideNumber(1, std::int64_t{1} << 20);
  return WideNumber(a.mantissa / b.mantissa, a.exponent - b.exponent);
}
GAUSSWEEP_SHARED_INLINE WideNumber operator+(const WideNumber& a, const WideNumber& b) {
  if (a.mantissa == 0) return b;
  if (b.mantissa == 0) return a;
  const std::int64_t e = std::max(a.exponent, b.exponent);
  return WideNumber(times_power(a.mantissa, a.exponent - e) + times_power(b.mantissa, b.exponent - e), e);
}
GAUSSWEEP_SHARED_INLINE bool operator<(const WideNumber& a, const WideNumber& b) {
  if (a.mantissa == 0 || b.mantissa == 0) return a.mantissa < b.mantissa;
  return a.exponent != b.exponent ? a.exponent < b.exponent : a.mantissa < b.mantissa;
}
GAUSSWEEP_SHARED_INLINE WideNumber square_root(const WideNumber& a) {
  const std::int64_t odd = a.exponent & 1;
  return WideNumber(std::sqrt(odd != 0 ? 2 * a.mantissa : a.mantissa), (a.exponent - odd) / 2);
}

/// Returns the exponent e with 2^(e-1) <= |x| < 2^e; 0 if x is 0.
GAUSSWEEP_SHARED_INLINE int exponent_of(double x) {
  int e = 0;
  mantissa_of(x, e);
  return e;
}

}  // namespace gaussweep
