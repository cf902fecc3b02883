// Tests the recomputation: its sums by rational numbers, its ratios by results computed by hand.

#include <boost/multiprecision/cpp_int.hpp>
#include <stdexcept>

#include "tests/verdicts/recompute.hpp"
#include "tests/verdicts/trials.hpp"

namespace gaussweep::verdicts {
namespace {

using Rational = boost::multiprecision::cpp_rational;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error("the recomputation is wrong: " + what);
}

/// Returns value as a rational number, from its bits and without parts_of.
Rational rational(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const Rational mantissa(static_cast<std::int64_t>(std::ldexp(fraction, 53)));
  const boost::multiprecision::cpp_int power = boost::multiprecision::cpp_int(1) << std::abs(exponent - 53);
  return exponent >= 53 ? Rational(mantissa * power) : Rational(mantissa / power);
}

double any_double(Random& random) {
  const double value = std::ldexp(random.between(-1, 1), static_cast<int>(random.integer(-1080, 1023)));
  return random.chance(0.1)
             ? std::ldexp(random.chance(0.5) ? 1 : -1, static_cast<int>(random.integer(-1074, 1023)))
             : value;
}

/// Tests sums of products over all exponents. In every second sum each product is also subtracted and added
/// again.
void test_sums() {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    Random random(7, trial);
    ExactSum sum;
    Rational exact = 0;
    const auto add_product = [&](double one, double other, bool negate) {
      sum.add_product(parts_of(one), parts_of(other), negate);
      exact += (negate ? -1 : 1) * rational(one) * rational(other);
    };
    const auto terms = random.integer(1, 20);
    for (std::int64_t k = 0; k < terms; ++k) {
      const double one = any_double(random), other = any_double(random);
      add_product(one, other, random.chance(0.5));
      if (trial % 2 == 0) {
        add_product(one, other, true);
        add_product(one, other, false);
      }
    }
    const double subtracted = any_double(random);
    sum.add(parts_of(subtracted), true);
    exact -= rational(subtracted);
    // 1e-118: value() rounds once, to 399 bits.
    const Wide error = sum.value() * Wide(denominator(exact)) - Wide(numerator(exact));
    require(abs(error) <= abs(Wide(numerator(exact))) * Wide("1e-118"), "a sum of products");
  }
  ExactSum smallest;
  smallest.add_product(parts_of(0x1p-1074), parts_of(-0x1p-1074));
  require(smallest.value() == -ldexp(Wide(1), -2148), "the smallest product");
  smallest.add_product(parts_of(-0x1p-1074), parts_of(-0x1p-1074));
  require(smallest.value() == 0, "a sum of two products that cancel");
}

Inputs<double> square(std::vector<double> a, std::vector<double> b = {}) {
  Inputs<double> inputs;
  const auto n = static_cast<std::int64_t>(std::sqrt(static_cast<double>(a.size())));
  inputs.shape = {n, n, n, 1, Uplo::lower};
  inputs.a = HostMatrix<double>(n, n);
  inputs.a.data = std::move(a);
  if (!b.empty()) {
    inputs.b = HostMatrix<double>(n, static_cast<std::int64_t>(b.size()) / n);
    inputs.b.data = std::move(b);
  }
  return inputs;
}

Truth truth_of(Problem problem, const Inputs<double>& inputs, std::vector<double> x,
               std::vector<int> pivots = {}) {
  Method method;
  method.problem = problem;
  Answer<double> answer;
  answer.x = HostMatrix<double>(inputs.shape.n, static_cast<std::int64_t>(x.size()) / inputs.shape.n);
  answer.x.data = std::move(x);
  answer.pivots = std::move(pivots);
  return recompute(method, inputs, answer);
}

/// @param ratio_times_u the expected ratio times u = 2^-53
void require_ratio(const Truth& truth, double ratio_times_u, const std::string& what) {
  const Wide expected = ldexp(Wide(ratio_times_u), 53);
  require(truth.finite && truth.defined && !truth.infinite_ratio &&
              abs(truth.ratio - expected) <= expected * Wide("1e-15"),
          what);
}

/// Compares ratios with ones computed by hand. |A| is the infinity norm for gesv and trsv, otherwise the
/// 1-norm.
void test_ratios() {
  // A = [1 3; 2 4], b = (5, 6), x = (1, 1): b - A x = (1, 0); |A| = 6, |x| = 1, |b| = 6, n = 2.
  const auto system = square({1, 2, 3, 4}, {5, 6});
  require_ratio(truth_of(Problem::named("gesv"), system, {1, 1}), 1.0 / (12 * 2), "gesv");
  // The lower triangle alone: residual (4, 0), |L| = 6.
  require_ratio(truth_of(Problem::named("trsv"), system, {1, 1}), 4.0 / (12 * 2), "trsv");
  // L = [1 0; 0.5 1], U = [2 4; 0 1] give P A exactly, with rows exchanged. With U(1, 1) = 2 the error is 1;
  // |A| = 7.
  require_ratio(truth_of(Problem::named("getrf"), square({1, 2, 3, 4}), {2, 0.5, 4, 1}, {1, 1}), 0,
                "getrf, exact");
  require_ratio(truth_of(Problem::named("getrf"), square({1, 2, 3, 4}), {2, 0.5, 4, 2}, {1, 1}),
                1.0 / (7 * 2), "getrf");
  require(!truth_of(Problem::named("getrf"), square({1, 2, 3, 4}), {2, 0.5, 4, 1}, {2, 1}).defined,
          "a pivot that is no row");
  require(!truth_of(Problem::named("getrf"), square({1, 2, 1, 2}), {2, 0.5, 2, 0}, {1, 1}).defined,
          "info 0 with a zero pivot");
  // L = [2 0; 1 1], L L^T = [4 2; 2 2], A = [4 3; 3 2] by its lower triangle: two errors of 1; |A| = 7.
  require_ratio(truth_of(Problem::named("potrf"), square({4, 3, 99, 2}), {2, 1, 99, 1}), 1.0 / (7 * 2),
                "potrf");
  // A = diag(2, 4), X = diag(0.5, 0.5): I - A X = diag(0, -1), |A| = 4, |X| = 0.5.
  for (const Problem problem : {Problem::named("geinv"), Problem::named("poinv"), Problem::named("trtri")}) {
    require_ratio(truth_of(problem, square({2, 0, 0, 4}), {0.5, 0, 0, 0.5}), 1.0 / (4 * 0.5 * 2),
                  "an inverse");
  }
  // A = diag(1, 2^-20), X = [1 2^-23; 0 2^20]: I - A X = [0 -2^-23; 0 0], I - X A = [0 -2^-43; 0 0]. Only
  // geinv uses the side with the smaller error.
  const auto small = square({1, 0, 0, 0x1p-20});
  require_ratio(truth_of(Problem::named("geinv"), small, {1, 0, 0x1p-23, 0x1p20}),
                0x1p-43 / (0x1p20 * 2) / (1 + 0x1p-43), "geinv, the left side");
  require_ratio(truth_of(Problem::named("poinv"), small, {1, 0, 0x1p-23, 0x1p20}),
                0x1p-23 / (0x1p20 * 2) / (1 + 0x1p-43), "poinv, the right side");
  require(truth_of(Problem::named("geinv"), square({2, 0, 0, 4}), {0, 0, 0, 0}).ratio > Wide("1e300"),
          "an inverse of 0");
  require(!truth_of(Problem::named("geinv"), square({2, 0, 0, 4}), {0, 0, NAN, 0}).finite, "NaN");
  require_ratio(truth_of(Problem::named("trtri"), square({2, 0, 0, 4}), {0.5, 0, NAN, 0.25}), 0,
                "NaN outside the triangle");
  // C = A B + 1 in one element; |A|_F = |B|_F = 2, k = 2.
  const auto ones = square({1, 1, 1, 1}, {1, 1, 1, 1});
  const Truth inexact = truth_of(Problem::named("gemm"), ones, {3, 2, 2, 2});
  require_ratio(inexact, 1.0 / (std::sqrt(4.0) * 4), "gemm");
  require(!inexact.within_bound && truth_of(Problem::named("gemm"), ones, {2, 2, 2, 2}).within_bound,
          "gemm's bound");
}

void require_statuses(const Truth& truth, Problem problem, std::int64_t info, Convergence convergence,
                      const std::vector<std::string>& expected) {
  Method method;
  method.problem = problem;
  require(right_statuses(method, truth, 16, info, convergence) == expected,
          "the statuses of " + expected.front());
}

void test_statuses() {
  Truth truth;
  truth.ratio = 15;
  require_statuses(truth, Problem::named("gesv"), 0, Convergence::none, {"pass"});
  require_statuses(truth, Problem::named("gesv"), 2, Convergence::none, {"failed"});
  require_statuses(truth, Problem::named("getrf"), 2, Convergence::none, {"pass"});
  require_statuses(truth, Problem::named("gesv"), -1, Convergence::none, {"error"});
  require_statuses(truth, Problem::named("gesv"), 0, Convergence::diverged, {"diverged"});
  truth.ratio = 16.001;
  require_statuses(truth, Problem::named("gesv"), 0, Convergence::none, {"pass", "suspect"});
  truth.ratio = 100;
  require_statuses(truth, Problem::named("gesv"), 0, Convergence::stagnated, {"suspect"});
  truth.ratio = Wide("1e400");
  require_statuses(truth, Problem::named("gesv"), 0, Convergence::none, {"failed"});
  truth = {};
  truth.finite = false;
  require_statuses(truth, Problem::named("getrf"), 0, Convergence::none, {"failed"});
}

}  // namespace

void test_recomputation() {
  test_sums();
  test_ratios();
  test_statuses();
}

}  // namespace gaussweep::verdicts
