// Tests the componentwise backward error, and errors that the normwise ratio cannot see.

#include "kernels/check/check.hpp"
#include "kernels/check/device_reductions.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

Method method_of(const char* problem) {
  Method method;
  method.problem = Problem::named(problem);
  return method;
}

// diag(1, 1e-17) x = (1, 1e-17) with x = (1, -5) instead of (1, 1): 6e-17 / (5e-17 + 1e-17).
TEST(Componentwise, SeesASmallRowOfASystem) {
  Inputs<double> inputs = inputs_of<double>({2, 2, 2, 1, Uplo::lower}, matrix<double>(2, 2, {1, 0, 0, 1e-17}),
                                            matrix<double>(2, 1, {1, 1e-17}));
  Answer<double> answer = answer_of<double>(matrix<double>(2, 1, {1, -5}));
  for (const char* problem : {"gesv", "posv", "trsv"}) {
    const Method method = method_of(problem);
    EXPECT_LE(check(method, inputs, answer).ratio, 1);
    EXPECT_NEAR(componentwise_error(method, inputs, answer), 1, 1e-12) << problem;
  }
  answer.x(1, 0) = 1;
  EXPECT_EQ(componentwise_error(method_of("gesv"), inputs, answer), 0);
  answer.x(1, 0) = std::nan("");
  EXPECT_EQ(componentwise_error(method_of("gesv"), inputs, answer), HUGE_VAL);
}

// x = (1e20, 1): the residual of the second row is far below the rounding error of the verification's sums.
TEST(Componentwise, SeesASmallComponent) {
  Inputs<double> inputs = inputs_of<double>({2, 2, 2, 1, Uplo::lower}, matrix<double>(2, 2, {1, 0, 0, 1}),
                                            matrix<double>(2, 1, {1e20, 1}));
  Answer<double> answer = answer_of<double>(matrix<double>(2, 1, {1e20, 1 + 0x1p-30}));
  EXPECT_LE(check(method_of("gesv"), inputs, answer).ratio, 1);
  EXPECT_NEAR(componentwise_error(method_of("gesv"), inputs, answer) / 0x1p-31, 1, 1e-6);
}

TEST(Componentwise, SeesASmallRowOfAProduct) {
  Inputs<double> inputs = inputs_of<double>(
      {2, 1, 2, 1, Uplo::lower}, matrix<double>(2, 2, {1, 1e-17, 2, 1e-17}), matrix<double>(2, 1, {1, 1}));
  Answer<double> answer = answer_of<double>(matrix<double>(2, 1, {3, -2e-17}));
  EXPECT_LE(check(method_of("gemm"), inputs, answer).ratio, 1);
  EXPECT_NEAR(componentwise_error(method_of("gemm"), inputs, answer), 1, 1e-12);
}

TEST(Componentwise, IsUnknownIfUndefinedOrTooExpensive) {
  const auto inputs = square_inputs<double>("geinv", 3, MatrixKind::identity);
  Answer<double> answer = answer_of<double>(inputs.a);
  EXPECT_TRUE(std::isnan(componentwise_error(method_of("geinv"), inputs, answer)));
  Inputs<float> product =
      inputs_of<float>({1 << 14, 1 << 13, 1, 1, Uplo::lower}, HostMatrix<float>(1 << 14, 1),
                       HostMatrix<float>(1, (1 << 13) + 1));
  product.shape.n = (1 << 13) + 1;
  Answer<float> zero = answer_of<float>(HostMatrix<float>::uninitialized(1 << 14, (1 << 13) + 1));
  EXPECT_TRUE(std::isnan(componentwise_error(method_of("gemm"), product, zero)));
}

PRECISION_TEST_SUITE(ComponentwiseOnADevice);

TYPED_TEST(ComponentwiseOnADevice, HasTheBitsOfTheCpu) {
  using T = TypeParam;
  CpuContext context;
  for (const char* name : {"gesv", "trsv", "gemm"}) {
    const Problem problem = Problem::named(name);
    for (const std::int64_t n : {1, 5, 65}) {
      const Shape shape{n, n, n, problem->has_axis("nrhs") ? 3 : 1, Uplo::upper};
      const auto inputs = make_inputs<T>(problem, shape, kind_for(problem));
      for (const double off : {0.0, 1e-3}) {
        Answer<T> answer;
        answer.x = problem->second == SecondOperand::matrix ? inputs.b : inputs.x_true;
        if (problem->second == SecondOperand::matrix) {
          for (std::int64_t j = 0; j < n; ++j) {
            for (std::int64_t i = 0; i < n; ++i) {
              double sum = 0;
              for (std::int64_t k = 0; k < n; ++k)
                sum += static_cast<double>(inputs.a(i, k)) * inputs.b(k, j);
              answer.x(i, j) = static_cast<T>(sum);
            }
          }
        }
        answer.x(n - 1, 0) *= static_cast<T>(1 + off);
        for (std::int64_t r = 0; r + 1 < n; ++r) answer.x(r, 0) *= static_cast<T>(off == 0 ? 1 : 1e-12);
        const double on_host = componentwise_error(method_of(name), inputs, answer);
        const auto reductions = device_reductions<T>(context);
        EXPECT_EQ(componentwise_error(method_of(name), inputs, answer, *reductions), on_host) << name << n;
        if (off == 0) {
          EXPECT_LE(on_host, 4 * static_cast<double>(n) * std::numeric_limits<T>::epsilon());
        } else if (n > 1) {
          EXPECT_GT(on_host, 0.1) << name << n;
        }
      }
    }
  }
}

// A = L L^T determines the columns of L only up to their signs.
TEST(CholeskyFactor, NeedsAPositiveDiagonal) {
  Inputs<double> inputs = inputs_of<double>({2, 2, 2, 1, Uplo::lower}, matrix<double>(2, 2, {4, 2, 2, 2}));
  Answer<double> answer = answer_of<double>(matrix<double>(2, 2, {2, 1, 0, 1}));
  EXPECT_EQ(check(method_of("potrf"), inputs, answer).ratio, 0);
  answer.x = matrix<double>(2, 2, {2, 1, 0, -1});
  const Findings found = check(method_of("potrf"), inputs, answer);
  EXPECT_EQ(found.ratio, std::numeric_limits<double>::max());
  EXPECT_NE(found.flaw.find("element 2 of the factor's diagonal is not positive"), std::string::npos);
  answer.x = matrix<double>(2, 2, {-2, -1, 0, -1});
  EXPECT_NE(check(method_of("potrf"), inputs, answer).flaw, "");
}

}  // namespace
}  // namespace gaussweep
