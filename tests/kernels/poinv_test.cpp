// Tests poinv by hand, against LAPACK, and the ways in which the Gauss-Seidel iteration ends.

#include "tests/kernels/method_cases.hpp"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

template <class T>
Outcome<T> invert(const std::string& variant, const Inputs<T>& inputs, const ParameterChanges& changes = {}) {
  return try_method(Problem::named("poinv"), variant, inputs, changes);
}

template <class T>
Inputs<T> spd(std::int64_t n) {
  return square_inputs<T>("poinv", n, MatrixKind::spd, 1, 3);
}

/// Returns the tridiagonal (-1, 2, -1): positive definite; convergence is slower for larger n.
template <class T>
Inputs<T> tridiagonal(std::int64_t n) {
  Inputs<T> inputs = square<T>(n, std::vector<T>(static_cast<std::size_t>(n * n)));
  for (std::int64_t i = 0; i < n; ++i) {
    inputs.a(i, i) = 2;
    if (i + 1 < n) inputs.a(i, i + 1) = inputs.a(i + 1, i) = -1;
  }
  return inputs;
}

template <class T>
double ratio(const std::string& variant, const Inputs<T>& inputs, const Answer<T>& answer) {
  return check(*registry().find(Problem::named("poinv"), variant), inputs, answer).ratio;
}

PRECISION_TEST_SUITE(Poinv);

TYPED_TEST(Poinv, ByHand) {
  using T = TypeParam;
  const std::vector<T> right{0.5, -0.5, -0.5, 1};
  const auto inputs = square<T>(2, {4, 2, 2, 2});  // L = (2 .; 1 1)
  EXPECT_EQ(invert("cholesky_gets", inputs).answer.x.data, right);
  for (const char* variant : {"gauss_seidel", "lapack"}) {
    const auto found = invert(variant, inputs).answer;
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(found.x.data[k], right[k], 32 * std::numeric_limits<T>::epsilon()) << variant;
    }
  }
  EXPECT_EQ(invert("cholesky_gets", square<T>(1, {4})).answer.x.data, std::vector<T>{0.25});
  EXPECT_EQ(invert("gauss_seidel", square<T>(1, {4})).answer.x.data, std::vector<T>{0.25});
}

TYPED_TEST(Poinv, EqualsLapack) {
  using T = TypeParam;
  for (const auto& inputs : {spd<T>(70), tridiagonal<T>(8)}) {
    const auto expected = invert("lapack", inputs).answer.x;
    double largest = 0;
    for (const T value : expected.data) largest = std::max(largest, std::fabs(double(value)));
    for (const char* variant : {"cholesky_gets", "gauss_seidel", "recursive"}) {
      const auto found = invert(variant, inputs).answer.x;
      for (std::size_t k = 0; k < found.data.size(); ++k) {
        ASSERT_NEAR(found.data[k], expected.data[k], 300 * std::numeric_limits<T>::epsilon() * largest)
            << variant;
      }
    }
  }
}

TYPED_TEST(Poinv, CholeskyGetsIsSymmetricAndItsKernelsGiveTheSameBits) {
  const std::int64_t n = 45;
  const auto inputs = spd<TypeParam>(n);
  const auto plain = invert("cholesky_gets", inputs).answer;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < j; ++i) ASSERT_EQ(plain.x(i, j), plain.x(j, i));
  }
  for (const char* update : {"sequential", "simultaneous"}) {
    for (const char* gets : {"fixed", "adaptive"}) {
      const ParameterChanges changes{{"update", std::string(update)}, {"gets", std::string(gets)}};
      EXPECT_TRUE(same_values(invert("cholesky_gets", inputs, changes).answer, plain))
          << update << " " << gets;
    }
  }
}

TYPED_TEST(Poinv, NotPositiveDefiniteGivesInfo) {
  for (const std::int64_t index : {0, 5, 16, 33}) {
    auto inputs = spd<TypeParam>(34);
    inputs.a(index, index) = -1;
    EXPECT_EQ(invert("lapack", inputs).answer.info, index + 1);
    EXPECT_EQ(invert("cholesky_gets", inputs).answer.info, index + 1);
    EXPECT_EQ(invert("recursive", inputs).answer.info, index + 1);
  }
}

// Products with inverses of diagonal blocks would lose digits on an ill-conditioned matrix. At 324 rows there
// are two diagonal parts and a product between them.
TEST(PoinvRecursive, IsAsAccurateAsLapackOnBlurMatrices) {
  for (const std::int64_t width : {12, 18}) {
    const Inputs<double> inputs = hard_blur(width);
    const double lapack = ratio("lapack", inputs, invert("lapack", inputs).answer);
    EXPECT_LT(ratio("recursive", inputs, invert("recursive", inputs).answer), 3 * lapack) << width;
  }
}

// One sweep from 0 in plain loops, column by column and equation by equation.
TYPED_TEST(Poinv, OneSweepEqualsPlainLoops) {
  using T = TypeParam;
  const std::int64_t n = 41;
  const auto inputs = spd<T>(n);
  const auto run = invert("gauss_seidel", inputs, {{"max_iterations", std::int64_t{1}}});
  EXPECT_EQ(run.report.convergence, Convergence::max_iterations);
  EXPECT_EQ(run.report.iterations, 1);
  double largest = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    std::vector<double> x(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      double residual = i == j ? 1 : 0;
      for (std::int64_t k = 0; k < i; ++k) residual -= double(inputs.a(i, k)) * x[k];
      largest = std::max(largest, std::fabs(residual));
      x[i] = residual / double(inputs.a(i, i));
      ASSERT_NEAR(run.answer.x(i, j), x[i], 20 * std::numeric_limits<T>::epsilon());
    }
  }
  EXPECT_NEAR(run.report.history.at(0), largest, 100 * std::numeric_limits<T>::epsilon());
}

TYPED_TEST(Poinv, GaussSeidelReportsConvergence) {
  using T = TypeParam;
  const auto easy = invert("gauss_seidel", spd<T>(40));
  EXPECT_EQ(easy.report.convergence, Convergence::converged);
  EXPECT_LE(easy.report.history.back(), 16 * std::numeric_limits<T>::epsilon());
  EXPECT_LT(easy.report.iterations, 40);

  const double tolerance = 100 * std::numeric_limits<T>::epsilon();
  const auto inputs = tridiagonal<T>(9);
  const auto run = invert("gauss_seidel", inputs, {{"residual_tolerance", tolerance}});
  EXPECT_EQ(run.report.convergence, Convergence::converged);
  const auto& history = run.report.history;
  ASSERT_EQ(history.size(), static_cast<std::size_t>(run.report.iterations));
  EXPECT_EQ(history.front(), 1);  // the residual of the diagonal's equations
  EXPECT_LE(history.back(), tolerance);
  EXPECT_GT(history.size(), easy.report.history.size());
  EXPECT_LE(ratio("gauss_seidel", inputs, run.answer), 30);

  // A larger tolerance stops the same iteration earlier.
  const auto rough = invert("gauss_seidel", inputs, {{"residual_tolerance", 1e-2}});
  EXPECT_EQ(rough.report.convergence, Convergence::converged);
  EXPECT_LT(rough.report.iterations, run.report.iterations);
  EXPECT_LE(rough.report.history.back(), 1e-2);
  EXPECT_GT(rough.report.history.end()[-2], 1e-2);
  EXPECT_TRUE(std::equal(rough.report.history.begin(), rough.report.history.end(), history.begin()));
}

// The limit is no error: the answer is the last iterate, and one more sweep improves it.
TYPED_TEST(Poinv, RespectsMaxIterations) {
  const auto inputs = tridiagonal<TypeParam>(18);
  const auto capped = [&](std::int64_t most) {
    const auto run = invert("gauss_seidel", inputs, {{"max_iterations", most}});
    EXPECT_EQ(run.report.convergence, Convergence::max_iterations);
    EXPECT_EQ(run.report.iterations, most);
    return ratio("gauss_seidel", inputs, run.answer);
  };
  const double after_20 = capped(20);
  EXPECT_GT(after_20, 300);
  EXPECT_LT(capped(40), after_20);
}

// The tolerance is far below the rounding errors: the iteration stagnates, and its answer is accurate.
TYPED_TEST(Poinv, UnreachableToleranceStagnates) {
  const auto inputs = spd<TypeParam>(40);
  const auto run = invert("gauss_seidel", inputs, {{"residual_tolerance", 1e-300}});
  EXPECT_EQ(run.report.convergence, Convergence::stagnated);
  EXPECT_LE(ratio("gauss_seidel", inputs, run.answer), 30);
}

TYPED_TEST(Poinv, GrowthAndNanAreDivergence) {
  using T = TypeParam;
  // Positive diagonal, but indefinite: 3 off the diagonal.
  const auto grown = invert("gauss_seidel", square<T>(2, {1, 3, 3, 1}));
  EXPECT_EQ(grown.report.convergence, Convergence::diverged);
  EXPECT_GT(grown.report.history.back(), 1);
  auto inputs = spd<T>(20);
  inputs.a(7, 3) = std::numeric_limits<T>::quiet_NaN();
  const auto lost = invert("gauss_seidel", inputs);
  EXPECT_EQ(lost.report.convergence, Convergence::diverged);
  EXPECT_EQ(lost.report.iterations, 1);
  EXPECT_TRUE(std::isnan(lost.report.history.back()));
}

TYPED_TEST(Poinv, ZeroOnTheDiagonalGivesInfo) {
  auto inputs = spd<TypeParam>(20);
  inputs.a(17, 17) = 0;
  inputs.a(4, 4) = 0;
  const auto run = invert("gauss_seidel", inputs);
  EXPECT_EQ(run.answer.info, 5);
  EXPECT_EQ(run.report.convergence, Convergence::diverged);
}

}  // namespace
}  // namespace gaussweep
