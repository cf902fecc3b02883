// Tests the verification of answers: backward errors computed by hand, damaged answers, and scaled operands.
#include "kernels/check/check.hpp"
#include "kernels/check/norms.hpp"
#include "kernels/vendor/blas.hpp"
#include "kernels/vendor/peaks.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr std::int64_t sizes[] = {1, 2, 31, 32, 33, 97};

/// The unit roundoff of T.
template <class T>
constexpr double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;

/// Returns the answer of the vendor's library, with the rounding errors of any good method.
template <class T>
Answer<T> vendor_answer(Problem problem, const Inputs<T>& inputs) {
  using namespace vendor;
  const auto [m, n, k, nrhs, uplo, batch] = inputs.shape;
  Answer<T> answer;
  HostMatrix<T> a = inputs.a;
  std::vector<int> pivots(n);
  std::vector<T> work(64 * n);
  T* data = a.data.data();
  if (problem->name == "gemm") {
    answer.x = HostMatrix<T>(m, n);
    gemm(Op::none, Op::none, m, n, k, T(1), data, m, inputs.b.data.data(), k, T(0), answer.x.data.data(), m);
    return answer;
  }
  if (problem->name == "trsv") {
    answer.x = inputs.b;
    trsm(Side::left, uplo, Op::none, Diagonal::stored, n, nrhs, T(1), data, n, answer.x.data.data(), n);
    return answer;
  }
  if (problem->name == "gesv") {
    answer.x = inputs.b;
    EXPECT_EQ(gesv(n, nrhs, data, n, pivots.data(), answer.x.data.data(), n), 0);
    return answer;
  }
  if (problem->name == "posv") {
    answer.x = inputs.b;
    EXPECT_EQ(potrf(uplo, n, data, n), 0);
    EXPECT_EQ(potrs(uplo, n, nrhs, data, n, answer.x.data.data(), n), 0);
    return answer;
  }
  if (problem->name == "getrf") {
    EXPECT_EQ(getrf(n, n, data, n, pivots.data()), 0);
    for (int& pivot : pivots) --pivot;  // LAPACK counts rows from 1
    answer.pivots = pivots;
  } else if (problem->name == "potrf") {
    EXPECT_EQ(potrf(uplo, n, data, n), 0);
  } else if (problem->name == "trtri") {
    EXPECT_EQ(trtri(uplo, Diagonal::stored, n, data, n), 0);
  } else if (problem->name == "geinv") {
    EXPECT_EQ(getrf(n, n, data, n, pivots.data()), 0);
    EXPECT_EQ(getri(n, data, n, pivots.data(), work.data(), 64 * n), 0);
  } else if (problem->name == "poinv") {
    EXPECT_EQ(potrf(Uplo::lower, n, data, n), 0);
    EXPECT_EQ(potri(Uplo::lower, n, data, n), 0);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i);
    }
  } else {
    ADD_FAILURE() << "no library's answer to " << problem->name;
  }
  answer.x = a;
  return answer;
}

/// Generates operands on which the vendor's answer is accurate. For gemm all three sizes differ.
template <class T>
Inputs<T> inputs_for(Problem problem, std::int64_t n, Uplo uplo = Uplo::lower, std::int64_t nrhs = 2) {
  const Shape shape =
      problem == Problem::named("gemm") ? Shape{n + 1, n, 2 * n, 1, uplo} : Shape{n, n, n, nrhs, uplo};
  return make_inputs<T>(problem, shape, kind_for(problem), 11);
}

PRECISION_TEST_SUITE(Check);

TYPED_TEST(Check, RightAnswersPassAndDamagedOnesFail) {
  using T = TypeParam;
  for (const Problem problem : all_problems()) {
    for (const std::int64_t n : sizes) {
      for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        const Method method = method_of(problem);
        const auto inputs = inputs_for<T>(problem, n, uplo);
        Answer<T> answer = vendor_answer(problem, inputs);
        const double good = check(method, inputs, answer).ratio;
        EXPECT_LE(good, default_tolerance(problem)) << to_string(problem) << " n " << n;
        EXPECT_GE(good, 0);
        // Damages the corner, which both triangles have. An inverse must be wrong from both sides.
        const double damage = problem == Problem::named("geinv") ? 10 : 1;
        T& corner = answer.x(answer.x.rows - 1, answer.x.cols - 1);
        corner += static_cast<T>(damage * max_norm(answer.x));
        const double bad = check(method, inputs, answer).ratio;
        EXPECT_GT(bad, 10 * default_tolerance(problem)) << to_string(problem) << " n " << n;
        corner = std::numeric_limits<T>::quiet_NaN();
        EXPECT_EQ(check(method, inputs, answer).ratio, infinity) << to_string(problem);
        corner = -std::numeric_limits<T>::infinity();
        EXPECT_EQ(check(method, inputs, answer).ratio, infinity) << to_string(problem);
        EXPECT_EQ(check(method, inputs, answer).backward_error, infinity);
      }
    }
  }
}

TYPED_TEST(Check, RatioGrowsWithTheError) {
  using T = TypeParam;
  const auto inputs = inputs_for<T>(Problem::named("gesv"), 97);
  const Answer<T> exact = vendor_answer(Problem::named("gesv"), inputs);
  double last = check(method_of(Problem::named("gesv")), inputs, exact).ratio;
  for (const double error : {1e-3, 1e-2, 1e-1}) {
    Answer<T> answer = exact;
    answer.x(50, 1) += static_cast<T>(error);
    const double ratio = check(method_of(Problem::named("gesv")), inputs, answer).ratio;
    EXPECT_GT(ratio, 5 * last);
    last = ratio;
  }
}

TYPED_TEST(Check, NanInTheMatrixFails) {
  using T = TypeParam;
  for (const Problem problem : all_problems()) {
    auto inputs = inputs_for<T>(problem, 5);
    const Answer<T> answer = vendor_answer(problem, inputs);
    inputs.a(2, 2) = std::numeric_limits<T>::quiet_NaN();
    EXPECT_EQ(check(method_of(problem), inputs, answer).ratio, infinity) << to_string(problem);
  }
}

// A = [2 1; 1 3], b = (4, 7): x = (1, 2). With x = (1, 2.5): b - A x = (-0.5, -1.5), |A| = 4, |x| = 2.5, |b|
// = 7, backward error 1.5 / 17. All numbers are exact in float.
TYPED_TEST(Check, SolutionByHand) {
  using T = TypeParam;
  Inputs<T> inputs = inputs_of<T>({2, 2, 2, 1, Uplo::lower}, matrix<T>(2, 2, {2, 1, 1, 3}),
                                  matrix<T>(2, 1, {4, 7}), matrix<T>(2, 1, {1, 2}));
  Answer<T> answer = answer_of<T>(matrix<T>(2, 1, {1, 2}));
  Findings findings = check(method_of(Problem::named("gesv")), inputs, answer);
  EXPECT_EQ(std::tuple(findings.ratio, findings.backward_error, findings.forward_error), std::tuple(0, 0, 0));
  EXPECT_EQ(findings.first_row_percent, 0);
  EXPECT_TRUE(std::isnan(findings.pivot_growth));

  answer.x = matrix<T>(2, 1, {1, 2.5});
  findings = check(method_of(Problem::named("gesv")), inputs, answer);
  EXPECT_DOUBLE_EQ(findings.backward_error, 1.5 / 17);
  EXPECT_DOUBLE_EQ(findings.ratio, 1.5 / 17 / (2 * u<T>));
  EXPECT_DOUBLE_EQ(findings.forward_error, 0.25);
  EXPECT_DOUBLE_EQ(findings.first_row_percent, 12.5);

  inputs.x_true = {};
  EXPECT_TRUE(std::isnan(check(method_of(Problem::named("gesv")), inputs, answer).forward_error));

  // trsv reads one triangle: the lower one, [2 .; 1 3] (1, 2.5) = (2, 8.5) instead of b = (2, 7); |A| = 4.
  inputs.b = matrix<T>(2, 1, {2, 7});
  findings = check(method_of(Problem::named("trsv")), inputs, answer);
  EXPECT_DOUBLE_EQ(findings.backward_error, 1.5 / 17);
  EXPECT_TRUE(std::isnan(findings.first_row_percent));
}

// Fuhrmann's check computes the residual of the first row only. A method that computes x_0 from that row
// makes this residual 0, even if all other rows are wrong.
TYPED_TEST(Check, SeesErrorsBeyondTheFirstRow) {
  using T = TypeParam;
  auto inputs = inputs_for<T>(Problem::named("gesv"), 33, Uplo::lower, 1);
  Answer<T> answer = vendor_answer(Problem::named("gesv"), inputs);
  for (T& x : answer.x.data) x *= 2;
  double sum = inputs.b(0, 0);
  for (int j = 1; j < 33; ++j) sum -= static_cast<double>(inputs.a(0, j)) * answer.x(j, 0);
  answer.x(0, 0) = static_cast<T>(sum / inputs.a(0, 0));
  const Findings findings = check(method_of(Problem::named("gesv")), inputs, answer);
  EXPECT_LT(findings.first_row_percent, 0.1);
  EXPECT_GT(findings.ratio, 1000);
}

TYPED_TEST(Check, EachRightHandSideHasItsOwnRatio) {
  using T = TypeParam;
  Inputs<T> inputs = inputs_of<T>({1, 1, 1, 2, Uplo::lower}, matrix<T>(1, 1, {1}), matrix<T>(1, 2, {1e6, 1}));
  Answer<T> answer = answer_of<T>(matrix<T>(1, 2, {1e6, 2}));
  EXPECT_DOUBLE_EQ(check(method_of(Problem::named("gesv")), inputs, answer).backward_error, 1. / 3);
}

// A = [0 2; 1 3] (rows); with exchanged rows [1 3; 0 2] = I [1 3; 0 2].
TYPED_TEST(Check, LuByHand) {
  using T = TypeParam;
  Inputs<T> inputs = inputs_of<T>({2, 2, 2, 1, Uplo::lower}, matrix<T>(2, 2, {0, 1, 2, 3}));
  Answer<T> answer = answer_of<T>(matrix<T>(2, 2, {1, 0, 3, 2}), {1, 1});
  Findings findings = check(method_of(Problem::named("getrf")), inputs, answer);
  EXPECT_EQ(findings.ratio, 0);
  EXPECT_DOUBLE_EQ(findings.pivot_growth, 1);
  // Without the exchange the residual has columns (1, 1) and (1, 1); |A| = 5.
  answer.pivots = {};
  EXPECT_DOUBLE_EQ(check(method_of(Problem::named("getrf")), inputs, answer).backward_error, 2. / 5);
  answer.pivots = {1, 2};
  EXPECT_EQ(check(method_of(Problem::named("getrf")), inputs, answer).ratio, largest);
  EXPECT_EQ(check(method_of(Problem::named("getrf")), inputs, answer).flaw,
            "pivot 2 exchanges row 3; allowed are rows 1 to 2");
  answer.pivots = {-1, 1};
  EXPECT_EQ(check(method_of(Problem::named("getrf")), inputs, answer).ratio, largest);

  // Crout: A = [2 6; 1 7] = [2 .; 1 4] [1 3; . 1], no exchanges. Read as unit lower triangular it is wrong.
  inputs.a = matrix<T>(2, 2, {2, 1, 6, 7});
  answer.x = matrix<T>(2, 2, {2, 1, 3, 4});
  answer.pivots = {};
  findings = check(method_of(Problem::named("getrf"), UnitDiagonal::upper), inputs, answer);
  EXPECT_EQ(findings.ratio, 0);
  EXPECT_DOUBLE_EQ(findings.pivot_growth, 4. / 7);
  EXPECT_GT(check(method_of(Problem::named("getrf")), inputs, answer).ratio, 1000);
}

// A = [4 2; 2 5] = L L^T with L = [2 .; 1 2]. The other triangle is ignored, even if it holds NaN.
TYPED_TEST(Check, CholeskyByHand) {
  using T = TypeParam;
  const T rubbish = std::numeric_limits<T>::quiet_NaN();
  Inputs<T> inputs = inputs_of<T>({2, 2, 2, 1, Uplo::lower}, matrix<T>(2, 2, {4, 2, 2, 5}));
  Answer<T> answer = answer_of<T>(matrix<T>(2, 2, {2, 1, rubbish, 2}));
  Findings findings = check(method_of(Problem::named("potrf")), inputs, answer);
  EXPECT_EQ(findings.ratio, 0);
  EXPECT_DOUBLE_EQ(findings.pivot_growth, 4. / 5);
  inputs.shape.uplo = Uplo::upper;
  EXPECT_EQ(check(method_of(Problem::named("potrf")), inputs, answer).ratio, infinity);
  answer.x = matrix<T>(2, 2, {2, rubbish, 1, 2});
  EXPECT_EQ(check(method_of(Problem::named("potrf")), inputs, answer).ratio, 0);
  // U = [2 2; . 2]: U^T U = [4 4; 4 8] has error [. 2; 2 3], whose largest column sum is 5; |A| = 7.
  answer.x = matrix<T>(2, 2, {2, rubbish, 2, 2});
  EXPECT_DOUBLE_EQ(check(method_of(Problem::named("potrf")), inputs, answer).backward_error, 5. / 7);
}

TYPED_TEST(Check, InversesByHand) {
  using T = TypeParam;
  const T rubbish = std::numeric_limits<T>::quiet_NaN();
  Inputs<T> inputs;
  inputs.shape = {2, 2, 2, 1, Uplo::lower};
  inputs.a = matrix<T>(2, 2, {2, 1, 0, 4});  // [2 .; 1 4], inverse [0.5 .; -0.125 0.25]
  Answer<T> answer = answer_of<T>(matrix<T>(2, 2, {0.5, -0.125, rubbish, 0.25}));
  EXPECT_EQ(check(method_of(Problem::named("trtri")), inputs, answer).ratio, 0);
  EXPECT_EQ(check(method_of(Problem::named("geinv")), inputs, answer).ratio, infinity);
  answer.x(0, 1) = 0;
  EXPECT_EQ(check(method_of(Problem::named("geinv")), inputs, answer).ratio, 0);
  // With the diagonal 0.5, 0.5: A X = [1 .; 0 2], I - A X has column sums 0 and 1; |A| = 4, |X| = 0.625.
  answer.x(1, 1) = 0.5;
  for (const Problem problem : {Problem::named("trtri"), Problem::named("geinv"), Problem::named("poinv")}) {
    const Findings findings = check(method_of(problem), inputs, answer);
    EXPECT_DOUBLE_EQ(findings.backward_error, 1 / (4 * 0.625));
    EXPECT_DOUBLE_EQ(findings.ratio, 1 / (4 * 0.625) / (2 * u<T>));
  }
}

// A = diag(1, t), X = [1 e/t; 0 1/t]: I - A X = [0 -e/t; 0 0] and I - X A = [0 -e; 0 0]. With t = 2^-10 and e
// = 64 u the ratio is 32 for I - A X and 2^-5 for I - X A, or vice versa.
TYPED_TEST(Check, InversesMayBeRightFromEitherSide) {
  using T = TypeParam;
  const T t = T(0x1p-10), off = static_cast<T>(64 * u<T>);
  Inputs<T> inputs = inputs_of<T>({2, 2, 2, 1, Uplo::upper}, matrix<T>(2, 2, {1, 0, 0, t}));
  Answer<T> answer = answer_of<T>(matrix<T>(2, 2, {1, 0, off / t, 1 / t}));
  const Method geinv = method_of(Problem::named("geinv"));
  EXPECT_NEAR(check(geinv, inputs, answer).ratio, 0x1p-5, 1e-3);
  EXPECT_NEAR(check(geinv, inputs, answer).backward_error / (u<T> * 0x1p-4), 1, 1e-3);
  for (const Problem problem : {Problem::named("trtri"), Problem::named("poinv")})
    EXPECT_NEAR(check(method_of(problem), inputs, answer).ratio, 32, 0.1);
  answer.x = matrix<T>(2, 2, {1, off / t, 0, 1 / t});
  EXPECT_NEAR(check(geinv, inputs, answer).ratio, 0x1p-5, 1e-3);
  answer.x = matrix<T>(2, 2, {1, off / t, off / t, 1 / t});
  EXPECT_GT(check(geinv, inputs, answer).ratio, 30);
}

// The verification computes I - X A, too, if the error of I - A X exceeds 32 u (small orders: a ratio of 1).
TEST(Inverse, OtherSideIsComputedBeyond32Roundoffs) {
  EXPECT_EQ(other_side_threshold(1), 1);
  EXPECT_EQ(other_side_threshold(32), 1);
  EXPECT_EQ(other_side_threshold(64), 0.5);
}

// [1 2; 3 4] (1, 1) = (3, 7); with C = (3, 8): 1 / (sqrt(30) sqrt(2)).
TYPED_TEST(Check, ProductByHand) {
  using T = TypeParam;
  Inputs<T> inputs =
      inputs_of<T>({2, 1, 2, 1, Uplo::lower}, matrix<T>(2, 2, {1, 3, 2, 4}), matrix<T>(2, 1, {1, 1}));
  Answer<T> answer = answer_of<T>(matrix<T>(2, 1, {3, 7}));
  EXPECT_EQ(check(method_of(Problem::named("gemm")), inputs, answer).ratio, 0);
  answer.x(1, 0) = 8;
  const Findings findings = check(method_of(Problem::named("gemm")), inputs, answer);
  EXPECT_NEAR(findings.backward_error, 1 / std::sqrt(60), 1e-15);
  EXPECT_NEAR(findings.ratio * u<T>, 1 / std::sqrt(60) / 2, 1e-15);
}

TYPED_TEST(Check, ZeroSolvesZero) {
  using T = TypeParam;
  Inputs<T> inputs;
  inputs.shape = {2, 2, 2, 1, Uplo::lower};
  inputs.a = inputs.b = HostMatrix<T>(2, 2);
  Answer<T> answer = answer_of<T>(HostMatrix<T>(2, 2));
  EXPECT_EQ(check(method_of(Problem::named("gemm")), inputs, answer).ratio, 0);
  answer.x(0, 0) = 1;
  EXPECT_GT(check(method_of(Problem::named("gemm")), inputs, answer).ratio, 1e40);
  EXPECT_LE(check(method_of(Problem::named("gemm")), inputs, answer).ratio, largest);
}

// Every operand is multiplied by powers of two with both signs, far beyond the range of squares and products.
TYPED_TEST(Check, RatiosDoNotDependOnTheScale) {
  using T = TypeParam;
  for (const Problem problem : all_problems()) {
    const auto inputs = inputs_for<T>(problem, 9);
    const Answer<T> answer = vendor_answer(problem, inputs);
    const Findings unscaled = check(method_of(problem), inputs, answer);
    const int far = std::is_same_v<T, float> ? 60 : 960;
    for (const int scale : {far, -far}) {
      auto scaled_inputs = inputs;
      Answer<T> scaled_answer = answer;
      const auto multiply = [](HostMatrix<T>& a, int power) {
        for (T& value : a.data) value = std::ldexp(value, power);
      };
      multiply(scaled_inputs.a, scale);
      if (problem->second == SecondOperand::matrix) {
        multiply(scaled_inputs.b, -scale);
      } else if (problem->second == SecondOperand::right_hand_sides) {
        multiply(scaled_inputs.b, scale);
      } else if (problem->name == "getrf") {  // L has a unit diagonal
        for (std::int64_t j = 0; j < 9; ++j) {
          for (std::int64_t i = 0; i <= j; ++i) scaled_answer.x(i, j) = std::ldexp(answer.x(i, j), scale);
        }
      } else if (problem->name == "potrf") {
        multiply(scaled_answer.x, scale / 2);
      } else {
        multiply(scaled_answer.x, -scale);
      }
      const Findings scaled = check(method_of(problem), scaled_inputs, scaled_answer);
      EXPECT_DOUBLE_EQ(scaled.ratio, unscaled.ratio) << to_string(problem) << " 2^" << scale;
      EXPECT_DOUBLE_EQ(scaled.backward_error, unscaled.backward_error) << to_string(problem);
      if (!std::isnan(unscaled.pivot_growth)) {
        EXPECT_DOUBLE_EQ(scaled.pivot_growth, unscaled.pivot_growth);
      }
      if (!std::isnan(unscaled.forward_error)) {
        EXPECT_DOUBLE_EQ(scaled.forward_error, unscaled.forward_error);
      }
      if (!std::isnan(unscaled.first_row_percent)) {
        EXPECT_DOUBLE_EQ(scaled.first_row_percent, unscaled.first_row_percent);
      }
      EXPECT_LE(scaled.ratio_bound, 1e-3);
    }
  }
}

TYPED_TEST(Check, NamesNonFiniteValues) {
  using T = TypeParam;
  auto inputs = inputs_for<T>(Problem::named("gesv"), 4);
  Answer<T> answer = vendor_answer(Problem::named("gesv"), inputs);
  EXPECT_EQ(check(method_of(Problem::named("gesv")), inputs, answer).flaw, "");
  inputs.b(1, 1) = std::numeric_limits<T>::infinity();
  EXPECT_EQ(check(method_of(Problem::named("gesv")), inputs, answer).flaw,
            "b holds Inf, first in row 2 of column 2");
  answer.x(2, 0) = std::numeric_limits<T>::quiet_NaN();
  EXPECT_EQ(check(method_of(Problem::named("gesv")), inputs, answer).flaw,
            "the answer holds NaN, first in row 3 of column 1");
}

TYPED_TEST(Check, WrongShapesAreProgramErrors) {
  using T = TypeParam;
  for (const Problem problem : all_problems()) {
    const auto inputs = inputs_for<T>(problem, 4);
    const Answer<T> right = vendor_answer(problem, inputs);
    Answer<T> wrong = right;
    wrong.x = HostMatrix<T>(right.x.rows + 1, right.x.cols);
    EXPECT_THROW(check(method_of(problem), inputs, wrong), std::invalid_argument);
    EXPECT_THROW(difference(problem, inputs.shape, wrong, right), std::invalid_argument);
    auto other = inputs;
    other.a = HostMatrix<T>(3, 4);
    EXPECT_THROW(check(method_of(problem), other, right), std::invalid_argument);
    other = inputs;
    other.shape.n = 0;
    EXPECT_THROW(check(method_of(problem), other, right), std::invalid_argument);
  }
  const auto inputs = inputs_for<T>(Problem::named("getrf"), 4);
  Answer<T> answer = vendor_answer(Problem::named("getrf"), inputs);
  answer.pivots.pop_back();
  EXPECT_THROW(check(method_of(Problem::named("getrf")), inputs, answer), std::invalid_argument);
}

TEST(Norms, ByHand) {
  HostMatrix<double> a(2, 3);
  a.data = {1, -2, 3, 4, -5, 6};  // [1 3 -5; -2 4 6]
  EXPECT_EQ(max_norm(a), 6);
  EXPECT_EQ(one_norm(a).value(), 11);
  EXPECT_EQ(infinity_norm(a).value(), 12);
  EXPECT_DOUBLE_EQ(frobenius_norm(a).value(), std::sqrt(91));
  EXPECT_EQ(one_norm(a, MatrixPart::lower).value(), 4);
  EXPECT_EQ(infinity_norm(a, MatrixPart::lower).value(), 6);
  EXPECT_EQ(one_norm(a, MatrixPart::upper).value(), 11);
  a(1, 0) = NAN;
  EXPECT_TRUE(std::isnan(max_norm(a)));
  EXPECT_TRUE(std::isnan(one_norm(a).value()));
  EXPECT_TRUE(std::isnan(infinity_norm(a).value()));
  EXPECT_TRUE(std::isnan(frobenius_norm(a).value()));
  EXPECT_FALSE(std::isnan(max_norm(a, MatrixPart::upper)));
  a.data = {1e300, 1e300, 1e300, 1e300, 0, 0};
  EXPECT_DOUBLE_EQ(frobenius_norm(a).value(), 2e300);
}

TEST(Tolerance, Defaults) {
  const std::vector<double> expected{3, 16, 16, 30, 30, 16, 30, 30, 30};
  ASSERT_EQ(all_problems().size(), expected.size()) << "a new problem needs its tolerance here";
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(default_tolerance(all_problems()[i]), expected[i]) << to_string(all_problems()[i]);
  }
}

TEST(Peaks, TakeAboutTheGivenTime) {
  for (const Backend backend : {Backend::host, Backend::emulated}) {
    const auto device = cpu(backend);
    Context context(*device);
    const double start = clock_seconds();
    const Peaks peaks = measure_peaks(context, 0.5);
    EXPECT_LT(clock_seconds() - start, 30);  // allows for loaded machines and sanitizers
    // Bounds so wide that every CPU meets them.
    EXPECT_GT(peaks.copy_bytes_per_second, 1e7);
    EXPECT_LT(peaks.copy_bytes_per_second, 1e14);
    EXPECT_GT(peaks.gemm_flops_double, 1e7);
    EXPECT_LT(peaks.gemm_flops_double, 1e16);
    EXPECT_GT(peaks.gemm_flops_float, 1e7);
  }
}

}  // namespace
}  // namespace gaussweep
