#pragma once
/// Exact sums of products of doubles in a Kulisch accumulator: a fixed-point number that is wide enough for
/// every product.

#include <array>

#include "kernels/check/scaled.hpp"

namespace gaussweep {

/// An exact sum of up to 2^40 products of finite doubles. Adding a product takes a few nanoseconds.
class ExactSum {
 public:
  /// Adds the product a * b.
  void add(double a, double b) {
    const SignMantissaExponent x(a), y(b);
    if (x.mantissa == 0 || y.mantissa == 0) return;
    const Wide product = static_cast<Wide>(x.mantissa) * y.mantissa;
    const int position = x.exponent + y.exponent + bias;  // the product's lowest bit in the accumulator
    const int first = position / 32, shift = position % 32;
    // A product has 106 bits. Shifted left by up to 31 bits, it fits in five 32-bit digits.
    const Wide low = static_cast<Wide>(static_cast<std::uint64_t>(product)) << shift;
    const Wide high = (product >> 64) << shift;
    const std::int64_t sign = x.negative != y.negative ? -1 : 1;
    std::int64_t* digit = digits_.data() + first;
    digit[0] += sign * static_cast<std::uint32_t>(low);
    digit[1] += sign * static_cast<std::uint32_t>(low >> 32);
    digit[2] += sign * static_cast<std::int64_t>((low >> 64) + static_cast<std::uint32_t>(high));
    digit[3] += sign * static_cast<std::uint32_t>(high >> 32);
    digit[4] += sign * static_cast<std::int64_t>(high >> 64);
    if (++pending_ == (1 << 28)) carry();  // each addition adds less than 2^34 to a digit
  }

  /// Returns |sum| with a relative error of about 2^-52.
  WideNumber magnitude() const {
    ExactSum positive = *this;
    auto& digits = positive.digits_;
    positive.carry();
    if (digits.back() < 0) {  // only the last digit can be negative after carry(): the sum is negative
      for (std::int64_t& digit : digits) digit = -digit;
      positive.carry();
    }
    std::size_t top = digits.size() - 1;
    while (top > 0 && digits[top] == 0) --top;
    double leading = 0;  // the three highest digits (at least 65 bits), or the whole sum
    const std::size_t last = top < 2 ? 0 : top - 2;
    for (std::size_t k = top + 1; k-- > last;) leading = leading * 0x1p32 + static_cast<double>(digits[k]);
    return WideNumber(leading, 32 * static_cast<std::int64_t>(last) - bias);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  /// Bit 0 of the accumulator is 2^-bias. Products have bits from 2^-2148 on, and 2176 is a multiple of 32.
  static constexpr int bias = 2176;
  /// A double as (-1)^negative mantissa 2^exponent.
  struct SignMantissaExponent {
    explicit SignMantissaExponent(double x) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &x, sizeof x);
      negative = bits >> 63 != 0;
      const int stored = static_cast<int>(bits >> 52) & 0x7ff;
      mantissa = bits & ((std::uint64_t{1} << 52) - 1);
      if (stored != 0) mantissa |= std::uint64_t{1} << 52;
      exponent = std::max(stored, 1) - 1075;
    }
    std::uint64_t mantissa = 0;
    int exponent = 0;
    bool negative = false;
  };
  /// Propagates carries, so that all digits except the last are in [0, 2^32).
  void carry() {
    for (std::size_t k = 0; k + 1 < digits_.size(); ++k) {
      const std::int64_t digit = digits_[k] & 0xffffffff;
      digits_[k + 1] += (digits_[k] - digit) / 0x100000000;
      digits_[k] = digit;
    }
    pending_ = 0;
  }

  std::array<std::int64_t, 136> digits_{};  // 32 bits each, lowest first, in 64 bits to delay carries
  int pending_ = 0;                         // additions since the last `carry`
};

}  // namespace gaussweep
