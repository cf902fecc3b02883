// Tests numbers with a separate exponent, and sums without rounding.

#include "kernels/check/scaled.hpp"
#include "kernels/check/exact_sum.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();

TEST(WideNumber, SurvivesOverflowAndUnderflow) {
  for (const double x : {1.0, 3.0, 0.1, largest, smallest, 0x1p-1060 * 3}) {
    EXPECT_EQ(WideNumber(x).value(), x);
    EXPECT_EQ(WideNumber(-x).value(), x) << "absolute values";
    // Passes through a square that overflows or underflows in double.
    EXPECT_DOUBLE_EQ((WideNumber(x) * WideNumber(x) / WideNumber(x)).value(), x);
    EXPECT_DOUBLE_EQ(square_root(WideNumber(x) * WideNumber(x)).value(), x);
  }
  EXPECT_EQ((WideNumber(3) + WideNumber(4)).value(), 7);
  EXPECT_EQ((WideNumber(largest) + WideNumber(largest)).exponent, 1025);
  EXPECT_EQ((WideNumber(1) + WideNumber(smallest)).value(), 1);
}

TEST(WideNumber, SaturatesInsteadOfZeroOrInfinity) {
  EXPECT_EQ((WideNumber(largest) * WideNumber(largest)).value(), largest);
  EXPECT_EQ((WideNumber(smallest) * WideNumber(smallest)).value(), smallest);
  EXPECT_EQ((WideNumber(1) / WideNumber(0)).value(), largest);
  EXPECT_EQ((WideNumber(0) / WideNumber(0)).value(), 0);
  EXPECT_EQ((WideNumber(0) / WideNumber(largest)).value(), 0);
}

TEST(WideNumber, IsOrdered) {
  EXPECT_LT(WideNumber(0), WideNumber(smallest));
  EXPECT_LT(WideNumber(smallest), WideNumber(1));
  EXPECT_LT(WideNumber(3), WideNumber(3.5));
  EXPECT_FALSE(WideNumber(4) < WideNumber(3.5));
  EXPECT_FALSE(WideNumber(0) < WideNumber(0));
}

TEST(WideNumber, PowersOfTwoBeyondTheRange) {
  EXPECT_EQ(times_power(3, 1000), 3 * 0x1p1000);
  EXPECT_EQ(times_power(smallest, 2000), 0x1p926);
  EXPECT_EQ(times_power(0x1p1000, -2000), 0x1p-1000);
  EXPECT_EQ(times_power(1, -100000), 0);
}

TEST(ExactSum, LosesNothing) {
  ExactSum sum;
  sum.add(largest, largest);
  sum.add(smallest, smallest);
  sum.add(1, 3);
  sum.add(-largest, largest);
  EXPECT_EQ(sum.magnitude().value(), 3);
  sum.add(-1, 3);
  EXPECT_EQ(sum.magnitude().exponent, -2147) << "2^-2148";
  EXPECT_EQ(sum.magnitude().mantissa, 0.5);
  sum.add(smallest, -smallest);
  EXPECT_EQ(sum.magnitude().mantissa, 0);
}

TEST(ExactSum, SizeIsTheAbsoluteValue) {
  ExactSum sum;
  for (int k = 0; k < 1000; ++k) sum.add(-0.1, 1);
  const WideNumber sum_of_1000 = sum.magnitude();
  EXPECT_NEAR(sum_of_1000.value(), 100, 1e-12);
  sum.add(0.1, 1000);  // 1000 fl(0.1) exactly
  EXPECT_EQ(sum.magnitude().value(), 0);
}

}  // namespace
}  // namespace gaussweep
