#pragma once
/// Exact sums of products of floating-point numbers, and numbers with 120 decimal digits and a far larger
/// exponent range than double. They are the reference for the program's verification.

#include <array>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <cstdint>

namespace gaussweep::verdicts {

/// A number of 120 decimal digits with a 31-bit exponent, for norms, quotients and square roots.
using Wide = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<120, boost::multiprecision::digit_base_10, void, std::int32_t>,
    boost::multiprecision::et_off>;

/// A finite number in parts: (-1)^negative * mantissa * 2^exponent.
struct Parts {
  std::uint64_t mantissa = 0;  ///< below 2^53
  int exponent = 0;            ///< at least -1074
  bool negative = false;
};

/// @pre value is finite
inline Parts parts_of(double value) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  exponent -= 53;
  if (exponent < -1074) {  // subnormal: its last bits are 0
    mantissa >>= -1074 - exponent;
    exponent = -1074;
  }
  return {mantissa, exponent, std::signbit(value)};
}

/// An exact sum of products of two doubles: a fixed-point number (after Kulisch), from the square of the
/// smallest double to 2^60 times the square of the largest. Positive and negative products have separate
/// sums, so that no borrow runs through the whole number.
class ExactSum {
 public:
  /// Adds one * other; with `negate` subtracts it.
  void add_product(const Parts& one, const Parts& other, bool negate = false) {
    if (one.mantissa == 0 || other.mantissa == 0) return;
    const unsigned __int128 product = static_cast<unsigned __int128>(one.mantissa) * other.mantissa;
    const bool negative = (one.negative != other.negative) != negate;
    add(negative ? negative_ : positive_, product, one.exponent + other.exponent + bias);
  }
  /// Adds value; with `negate` subtracts it.
  void add(const Parts& value, bool negate = false) {
    if (value.mantissa != 0) {
      add(value.negative != negate ? negative_ : positive_, value.mantissa, value.exponent + bias);
    }
  }
  /// Returns the sum, rounded once to Wide.
  Wide value() const {
    const bool negative = less(positive_, negative_);
    const Limbs& large = negative ? negative_ : positive_;
    const Limbs& small = negative ? positive_ : negative_;
    Limbs difference{};
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < limbs; ++i) {
      const std::uint64_t without = large[i] - small[i];
      difference[i] = without - borrow;
      borrow = (large[i] < small[i] || without < borrow) ? 1 : 0;
    }
    std::size_t top = limbs;
    while (top > 0 && difference[top - 1] == 0) --top;
    Wide sum = 0;
    constexpr std::size_t used_limbs = 8;  // at least 449 bits, more than the 399 of Wide
    for (std::size_t i = top; i > 0 && i + used_limbs > top; --i) {
      if (difference[i - 1] != 0)
        sum += ldexp(Wide(difference[i - 1]), static_cast<int>(64 * (i - 1)) - bias);
    }
    return negative ? Wide(-sum) : sum;
  }

 private:
  static constexpr int bias = 2148;  // bit 0 has the weight 2^-2148, the product of two factors of 2^-1074
  static constexpr std::size_t limbs = 68;  // 4352 bits; products need 2148 + 2048 bits, and 60 for carries
  using Limbs = std::array<std::uint64_t, limbs>;

  static bool less(const Limbs& one, const Limbs& other) {
    for (std::size_t i = limbs; i > 0; --i) {
      if (one[i - 1] != other[i - 1]) return one[i - 1] < other[i - 1];
    }
    return false;
  }
  static void add(Limbs& sum, unsigned __int128 value, int shift) {
    const auto first = static_cast<std::size_t>(shift / 64);
    const int bits = shift % 64;
    const std::uint64_t low = static_cast<std::uint64_t>(value);
    const std::uint64_t high = static_cast<std::uint64_t>(value >> 64);
    const std::array<std::uint64_t, 3> words =
        bits == 0 ? std::array<std::uint64_t, 3>{low, high, 0}
                  : std::array<std::uint64_t, 3>{low << bits, (high << bits) | (low >> (64 - bits)),
                                                 high >> (64 - bits)};
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < 3 || carry != 0; ++i) {
      const unsigned __int128 total =
          static_cast<unsigned __int128>(sum[first + i]) + (i < 3 ? words[i] : 0) + carry;
      sum[first + i] = static_cast<std::uint64_t>(total);
      carry = static_cast<std::uint64_t>(total >> 64);
    }
  }
  Limbs positive_{}, negative_{};
};

}  // namespace gaussweep::verdicts
