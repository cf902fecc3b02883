// Tests the verification at the ends of the exponent range, and for right answers with large rounding errors.

#include "kernels/check/check.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

template <class T>
constexpr double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;

// The matrix has very large and very small numbers: an exact inverse whose products overflow.
TEST(CheckRange, ExactInverseWithHugeProductsPasses) {
  Inputs<double> inputs =
      inputs_of<double>({2, 2, 2, 1, Uplo::lower}, matrix<double>(2, 2, {1e200, 0, 1e200, 1e-150}));
  Answer<double> answer = answer_of<double>(matrix<double>(2, 2, {1e-200, 0, -1e150, 1e150}));
  EXPECT_LE(check(method_of(Problem::named("geinv")), inputs, answer).ratio, 1);
  answer.x(0, 1) = 1e150;
  EXPECT_GT(check(method_of(Problem::named("poinv")), inputs, answer).ratio, 1e15);
  answer.x(0, 1) = -1e150;
  answer.x(1, 0) = 1e150;  // X A is wrong too
  EXPECT_GT(check(method_of(Problem::named("geinv")), inputs, answer).ratio, 1e15);
}

// A = [1e-318 1e-318; 1e-318 2e-318] = L L^T, L = 1e-159 [1 .; 1 1]. A wrong L must fail here too.
TEST(CheckRange, WrongFactorsOfSubnormalMatricesFail) {
  Inputs<double> inputs = inputs_of<double>(
      {2, 2, 2, 1, Uplo::lower}, matrix<double>(2, 2, {0x1p-1056, 0x1p-1056, 0x1p-1056, 0x1p-1055}));
  Answer<double> answer = answer_of<double>(matrix<double>(2, 2, {0x1p-528, 0x1p-528, 0, 0x1p-528}));
  EXPECT_EQ(check(method_of(Problem::named("potrf")), inputs, answer).ratio, 0);
  answer.x(1, 1) *= 1 + 0x1p-20;  // (2, 2) is off by at least 2^-1075, which arithmetic in double cannot see
  const Findings findings = check(method_of(Problem::named("potrf")), inputs, answer);
  EXPECT_NEAR(findings.ratio / ((0x1p-19 + 0x1p-40) / 3 / (2 * u<double>)), 1, 1e-12);
  EXPECT_GT(findings.ratio, 1e9);
  EXPECT_DOUBLE_EQ(findings.pivot_growth, (1 + 0x1p-20) * (1 + 0x1p-20) / 2);
}

// 1 / 3e38 is subnormal in float: even the nearest float has few correct digits.
TEST(CheckRange, NearestFloatToTheInversePasses) {
  Inputs<float> inputs = inputs_of<float>({3, 3, 3, 1, Uplo::lower},
                                          matrix<float>(3, 3, {3.3e38f, 0, 0, 0, 2.9e38f, 0, 0, 0, 3.1e38f}));
  Answer<float> answer =
      answer_of<float>(matrix<float>(3, 3, {1 / 3.3e38f, 0, 0, 0, 1 / 2.9e38f, 0, 0, 0, 1 / 3.1e38f}));
  EXPECT_LE(check(method_of(Problem::named("geinv")), inputs, answer).ratio, 1);
  answer.x(1, 1) = 0;
  EXPECT_GT(check(method_of(Problem::named("geinv")), inputs, answer).ratio, 1e4);
}

PRECISION_TEST_SUITE(CheckSums);

// In any method, sums of equal terms round in one direction, and products of tiny elements underflow. Answers
// with such errors must pass.
TYPED_TEST(CheckSums, ProductMayHaveTheErrorOfALongSum) {
  using T = TypeParam;
  Inputs<T> inputs =
      inputs_of<T>({3, 3, 50000, 1, Uplo::lower}, HostMatrix<T>(3, 50000), HostMatrix<T>(50000, 3));
  for (auto* operand : {&inputs.a, &inputs.b}) {
    for (T& value : operand->data) value = static_cast<T>(0.1);
  }
  Answer<T> answer = answer_of<T>(HostMatrix<T>(3, 3));
  const T term = static_cast<T>(0.1) * static_cast<T>(0.1);
  T sum = 0;
  for (int k = 0; k < 50000; ++k) sum += term;
  for (T& value : answer.x.data) value = sum;
  EXPECT_LE(check(method_of(Problem::named("gemm")), inputs, answer).ratio, 3);
  for (T& value : answer.x.data) value = sum * static_cast<T>(1 + 1e5 * 4 * u<T>);  // twice the allowed error
  EXPECT_GT(check(method_of(Problem::named("gemm")), inputs, answer).ratio, 3);

  const T tiny = std::is_same_v<T, float> ? static_cast<T>(1e-30) : static_cast<T>(1e-200);
  for (T& value : inputs.a.data) value = tiny;
  for (T& value : inputs.b.data) value = tiny;
  for (T& value : answer.x.data) value = 0;
  EXPECT_LE(check(method_of(Problem::named("gemm")), inputs, answer).ratio, 3);
  answer.x(1, 1) = tiny;
  EXPECT_GT(check(method_of(Problem::named("gemm")), inputs, answer).ratio, 1e4);
}

}  // namespace
}  // namespace gaussweep
