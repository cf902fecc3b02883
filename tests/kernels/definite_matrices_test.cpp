// Tests ill-conditioned positive definite matrices: kind `kernel`, and `spd` with a chosen condition number.

#include <lapacke.h>

#include "kernels/matrix/condition.hpp"
#include "kernels/matrix/element.hpp"
#include "kernels/matrix/generate.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

MatrixSpec square(MatrixKind kind, std::int64_t n) {
  MatrixSpec spec;
  spec.kind = kind;
  spec.rows = spec.cols = n;
  return spec;
}

template <class T>
HostMatrix<double> widened(const HostMatrix<T>& a) {
  HostMatrix<double> wide(a.rows, a.cols);
  std::copy(a.data.begin(), a.data.end(), wide.data.begin());
  return wide;
}

bool is_symmetric(const HostMatrix<double>& a) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (a(i, j) != a(j, i)) return false;
    }
  }
  return true;
}

std::vector<double> eigenvalues(HostMatrix<double> a) {
  const int n = static_cast<int>(a.rows);
  std::vector<double> values(static_cast<std::size_t>(n));
  EXPECT_EQ(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', n, a.data.data(), n, values.data()), 0);
  return values;
}

PRECISION_TEST_SUITE(DefiniteMatrices);

TEST(ExpOfMinus, IsAccurateToTwoUnitsInTheLastPlace) {
  for (int k = 0; k <= 70000; k += 7) {
    const double x = k * 0.01 + k * 1e-7;
    if (x > 700) break;
    const long double exact = std::exp(-static_cast<long double>(x));
    ASSERT_LE(std::fabs(exp_of_minus(x) - exact), exact * 0x1p-52L * 2) << x;
  }
  EXPECT_EQ(exp_of_minus(0), 1);
  EXPECT_EQ(exp_of_minus(701), 0);
  EXPECT_EQ(exp_of_minus(HUGE_VAL), 0);
}

TYPED_TEST(DefiniteMatrices, KernelByHand) {
  MatrixSpec spec = square(MatrixKind::kernel, 3);
  spec.s = 4;
  spec.lambda = 0.5;
  const auto near = [](double value) {
    return testing::DoubleNear(value,
                               value * 2 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon()));
  };
  const auto a = widened(generate<TypeParam>(spec));
  EXPECT_TRUE(is_symmetric(a));
  const double one = std::exp(-1.0), two = std::exp(-4.0);
  EXPECT_THAT(
      std::vector<double>(a.data.begin(), a.data.end()),
      testing::ElementsAre(1.5, near(one), near(two), near(one), 1.5, near(one), near(two), near(one), 1.5));
  spec.rows = spec.cols = 1;
  EXPECT_EQ(generate<TypeParam>(spec).data[0], TypeParam(1.5));
}

TYPED_TEST(DefiniteMatrices, KernelConditionIsAboutOneOverLambda) {
  constexpr bool is_float = sizeof(TypeParam) == 4;
  for (const double lambda : {1e-2, 1e-4, is_float ? 1e-5 : 1e-12}) {
    MatrixSpec spec = square(MatrixKind::kernel, 40);
    spec.lambda = lambda;
    const std::vector<double> values = eigenvalues(widened(generate<TypeParam>(spec)));
    EXPECT_NEAR(values.front() / lambda, 1, 0.2) << lambda;
    EXPECT_GT(values.back(), 20);
  }
}

TYPED_TEST(DefiniteMatrices, SpdHasTheChosenCondition) {
  for (const std::int64_t n : {2, 3, 33, 97}) {
    for (const double condition : {1.0, 100.0, max_spd_condition_number(precision_of<TypeParam>)}) {
      for (int mode = 1; mode <= 5; ++mode) {
        MatrixSpec spec = square(MatrixKind::spd, n);
        spec.dominant = false;
        spec.condition = condition;
        spec.mode = mode;
        const auto a = widened(generate<TypeParam>(spec));
        EXPECT_TRUE(is_symmetric(a));
        const std::vector<double> values = eigenvalues(a);
        EXPECT_GT(values.front(), 0) << n << " " << condition << " " << mode;
        // The eigenvalues have errors of some roundoffs times the largest one, which depend on the CPU.
        EXPECT_NEAR(values.back() / values.front() / condition, 1,
                    0.05 + 8 * std::numeric_limits<TypeParam>::epsilon() * condition)
            << n << " " << condition << " " << mode;
      }
    }
  }
}

TEST(DefiniteMatrixSpec, RejectionsNameTheAllowedValues) {
  const auto rejection = [](const MatrixSpec& spec) {
    return message_of<std::invalid_argument>([&] { generate<double>(spec); });
  };
  MatrixSpec spec = square(MatrixKind::kernel, 3);
  spec.s = -1;
  EXPECT_THAT(rejection(spec), HasSubstr("s must be 0 to 1e30, not -1"));
  spec.s = 1;
  spec.lambda = NAN;
  EXPECT_THAT(rejection(spec), HasSubstr("lambda must be 0 to 1e30"));
  spec = square(MatrixKind::spd, 3);
  spec.condition = 0.5;  // ignored without a mode
  EXPECT_EQ(rejection(spec), "");
  spec.dominant = false;
  EXPECT_THAT(rejection(spec), HasSubstr("condition must be 1 to 1e300, not 0.5"));
  spec.condition = 1e15;
  EXPECT_THAT(rejection(spec), HasSubstr("allowed: up to 1/(64 u), 1407"));
}

TEST(DefiniteMatrixSpec, TextHasExactlyTheRelevantParameters) {
  MatrixSpec spec = square(MatrixKind::spd, 3);
  EXPECT_EQ(spec.canonical(Precision::float64),
            "gaussweep generator 1: kind=spd precision=double rows=3 cols=3 seed=1");
  spec.dominant = false;
  EXPECT_EQ(spec.canonical(Precision::float64),
            "gaussweep generator 1: kind=spd precision=double rows=3 cols=3 seed=1 condition=10000 mode=3");
  spec = square(MatrixKind::kernel, 3);
  EXPECT_EQ(spec.canonical(Precision::float32),
            "gaussweep generator 1: kind=kernel precision=float rows=3 cols=3 s=4 lambda=0.01");
}

}  // namespace
}  // namespace gaussweep
