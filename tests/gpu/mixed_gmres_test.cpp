// Tests gesv/mixed_gmres: which systems it refines, and when it falls back to the direct solve.
// methods_gpu_test.cpp tests orders at which factors in float are not tried. Here float_from is 1, unless a
// test sets it, so that they are tried at every order.

#include "tests/gpu/refined_on_gpu.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

class MixedGmres : public RefinedOnGpu {
 protected:
  MixedGmres() : RefinedOnGpu("gesv") {}

  static std::int64_t order() { return small() ? 100 : 300; }
  static Shape shape(std::int64_t n, std::int64_t nrhs = 1) { return {n, n, n, nrhs, Uplo::lower}; }
  template <class T>
  static Inputs<T> inputs_of(std::int64_t n, MatrixKind kind, std::int64_t nrhs = 1) {
    return make_inputs<T>(Problem::named("gesv"), shape(n, nrhs), kind);
  }
  /// Returns a system with a condition number and a mode of singular values (1 to 5, as in LAPACK's latms).
  static Inputs<double> conditioned(std::int64_t n, double condition, int mode) {
    Inputs<double> inputs = inputs_of<double>(n, MatrixKind::uniform);
    MatrixSpec spec;
    spec.kind = MatrixKind::condition;
    spec.rows = spec.cols = n;
    spec.condition = condition;
    spec.mode = mode;
    inputs.a = generate<double>(spec, /*threads=*/1);
    inputs.b = right_hand_side<double>(inputs.a, inputs.x_true, /*threads=*/1);
    return inputs;
  }
  /// Returns a system whose rows, columns or both decrease over twelve decades.
  static Inputs<double> graded(std::int64_t n, bool rows, bool columns) {
    Inputs<double> inputs = inputs_of<double>(n, MatrixKind::uniform);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        const auto steps = static_cast<double>((rows ? i : 0) + (columns ? j : 0));
        inputs.a(i, j) = (inputs.a(i, j) - 0.5) * std::pow(10, -12 * steps / static_cast<double>(n));
      }
    }
    inputs.b = right_hand_side<double>(inputs.a, inputs.x_true, /*threads=*/1);
    return inputs;
  }
};

TEST_F(MixedGmres, PassesTheTestsOfAllMethods) {
  for (const std::int64_t n : {1, 2, 33}) {
    expect_right<double>(*context, mixed, n, /*blocks=*/{});
    expect_right<float>(*context, mixed, n, /*blocks=*/{});
    expect_singular_is_a_result<double>(*context, mixed, n);
    expect_singular_is_a_result<float>(*context, mixed, n);
    expect_workspace_is_enough<double>(*context, mixed, n);
    expect_workspace_is_enough<float>(*context, mixed, n);
    expect_nan_is_seen<double>(*context, mixed, n);
    expect_nan_is_seen<float>(*context, mixed, n);
  }
  expect_smallest_info<double>(*context, mixed, 33);
  expect_smallest_info<float>(*context, mixed, 33);
  if (small()) return;
  for (const std::int64_t n : {97, 257, 512}) {
    expect_right<double>(*context, mixed, n, /*blocks=*/{});
    expect_right<float>(*context, mixed, n, /*blocks=*/{});
    expect_workspace_is_enough<double>(*context, mixed, n);
  }
}

TEST_F(MixedGmres, BelowFloatFromEqualsRecursive) {
  const Inputs<double> inputs = inputs_of<double>(order(), MatrixKind::uniform);
  const Answer<double> direct = run(row("recursive"), inputs);
  const Method& method = row("mixed_gmres");
  Parameters parameters = defaults(method);
  for (const std::int64_t from : {order() + 1, parameters.integer("float_from")}) {
    parameters.set("float_from", from);
    const Answer<double> ours = run_method(*context, method, inputs, parameters);
    EXPECT_EQ(context->report.convergence, Convergence::none);
    EXPECT_EQ(context->report.iterations, 0);
    EXPECT_TRUE(same_values(ours, direct)) << from;
  }
  parameters.set("float_from", order());
  run_method(*context, method, inputs, parameters);
  EXPECT_EQ(context->report.convergence, Convergence::converged);
}

class MixedGmresSizes : public MixedGmres, public testing::WithParamInterface<std::int64_t> {};

TEST_P(MixedGmresSizes, RefinesUniformMatrices) {
  const std::int64_t n = GetParam();
  if (n > 300 && small()) GTEST_SKIP() << "small sizes only";
  expect_refined(inputs_of<double>(n, MatrixKind::uniform));
  expect_refined(inputs_of<float>(n, MatrixKind::uniform));
}

// 1 to 33: one panel. 256, 257: the pivot window, then the recursion. 289: a last panel with one column
// beyond the window. 600: a product of fp16 pairs. 1300: exchanges of more than 512 rows. 2100: odd
// remainders. 2600: updates through inverses. 2601: products that extend beyond the rows.
INSTANTIATE_TEST_SUITE_P(All, MixedGmresSizes,
                         testing::Values(1, 2, 33, 256, 257, 289, 600, 1300, 2100, 2600, 2601));

TEST_F(MixedGmres, RefinesModerateConditions) {
  expect_refined(conditioned(order(), 1e6, /*mode=*/3));
  expect_refined(inputs_of<double>(order(), MatrixKind::diagonally_dominant));
}

/// The factors in float are nearly singular in one direction. That direction dominates all others if the
/// factors are applied in float; in double a few iterations suffice. If the last pivot happens to be 0 in
/// float, nothing is refined.
TEST_F(MixedGmres, RefinesOneTinySingularValue) {
  const std::vector<std::int64_t> sizes =
      small() ? std::vector<std::int64_t>{33, 100} : std::vector<std::int64_t>{17, 33, 300, 511, 1000, 1500};
  int cases = 0, refined = 0;
  for (const std::int64_t n : sizes) {
    for (const double condition : {1e8, 1e12, 1e14}) {
      for (const int mode : {2, 4}) {
        if (n < 100 && mode == 4) continue;  // few singular values, most of them small
        SCOPED_TRACE(testing::Message() << n << ", condition " << condition << ", mode " << mode);
        const Inputs<double> inputs = conditioned(n, condition, mode);
        run(inputs);
        ++cases;
        if (context->report.iterations == 0) {
          expect_direct(inputs);
        } else {
          ++refined;
          EXPECT_LE(expect_refined(inputs), 20);
        }
      }
    }
  }
  EXPECT_GE(2 * refined, cases);
}

/// The factors are converted to double once, for all right-hand sides.
TEST_F(MixedGmres, RefinesOneTinySingularValueWithSeveralRightHandSides) {
  const std::int64_t n = order();
  for (const std::int64_t nrhs : {3, 20}) {
    Inputs<double> inputs = conditioned(n, 1e8, /*mode=*/2);
    inputs.shape = shape(n, nrhs);
    inputs.x_true = generate_solution<double>(n, nrhs, /*seed=*/1);
    inputs.b = right_hand_side<double>(inputs.a, inputs.x_true, /*threads=*/1);
    expect_refined(inputs);
  }
}

/// In an element of x that belongs to a small column, the rounding error must be as small as in a direct
/// solution. An error that is only small relative to the element is too large.
TEST_F(MixedGmres, RefinesGradedMatrices) {
  const Method& recursive = row("recursive");
  for (const std::int64_t n :
       small() ? std::vector<std::int64_t>{100} : std::vector<std::int64_t>{300, 1500}) {
    for (const auto& [rows, columns] :
         {std::pair(true, false), std::pair(false, true), std::pair(true, true)}) {
      SCOPED_TRACE(testing::Message() << n << ", graded rows " << rows << ", columns " << columns);
      const Inputs<double> inputs = graded(n, rows, columns);
      expect_refined(inputs);
      const double direct = check(recursive, inputs, run(recursive, inputs)).forward_error;
      EXPECT_LE(check(mixed, inputs, run(inputs)).forward_error, std::max(100 * direct, 1e-10));
    }
  }
}

TEST_F(MixedGmres, RefinesScalesBeyondFloat) {
  const std::int64_t n = order();
  Inputs<double> inputs = inputs_of<double>(n, MatrixKind::uniform);
  fill(inputs.a, [&](std::int64_t i, std::int64_t j) {
    return std::ldexp(inputs.a(i, j) - 0.5, 270 - static_cast<int>(i + j));
  });
  const Answer<double> ours = run(inputs);
  EXPECT_EQ(context->report.convergence, Convergence::converged);
  EXPECT_LE(check(mixed, inputs, ours).ratio, 0.1);
}

TEST_F(MixedGmres, SolvesLargeConditionsDirectly) {
  expect_direct(conditioned(order(), 1e12, /*mode=*/3));
  expect_direct(conditioned(order(), 1e14, /*mode=*/5));
  if (small()) return;
  // The method detects these conditions in a sample of rows and columns, before it factors any column.
  for (const int mode : {1, 3, 5}) {
    for (const std::int64_t n : {500, 1000, 1500}) {
      EXPECT_EQ(expect_direct(conditioned(n, 1e12, mode)), 0) << n << ", mode " << mode;
    }
  }
}

/// A sample of rows and columns of a permutation is almost 0, so it says nothing about the condition.
TEST_F(MixedGmres, RefinesPermutations) {
  const std::int64_t n = order();
  Inputs<double> inputs = inputs_of<double>(n, MatrixKind::uniform);
  fill(inputs.a, [&](std::int64_t i, std::int64_t j) { return i == (j + 5) % n ? 3 : 0; });
  inputs.b = right_hand_side<double>(inputs.a, inputs.x_true, /*threads=*/1);
  expect_refined(inputs);
}

/// The only pivots of the first columns lie below the pivot window.
TEST_F(MixedGmres, PivotsBeyondTheWindowAreFoundDirectly) {
  const std::int64_t n = 700;
  Inputs<double> inputs = inputs_of<double>(n, MatrixKind::uniform);
  fill(inputs.a, [&](std::int64_t i, std::int64_t j) { return (i + n / 2) % n == j ? 2 : 0; });
  const Answer<double> ours = run(inputs);
  EXPECT_EQ(context->report.convergence, Convergence::none);
  EXPECT_EQ(ours.info, 0);
  EXPECT_EQ(check(mixed, inputs, ours).ratio, 0);
}

/// The largest element of a column lies below the pivot window and is 1024 times the pivot.
TEST_F(MixedGmres, RefinesWithMultipliersFarAboveOne) {
  const std::int64_t n = 1024, small_pivot = 300, beyond = 900, last = 1000;
  Inputs<double> inputs = inputs_of<double>(n, MatrixKind::identity);
  inputs.a(small_pivot, small_pivot) = 0x1p-10;
  inputs.a(small_pivot, last) = 1;
  inputs.a(beyond, small_pivot) = 1;
  inputs.b = right_hand_side<double>(inputs.a, inputs.x_true, /*threads=*/1);
  expect_refined(inputs);
}

/// The elements double in every step of the elimination, until fp16 numbers overflow.
TEST_F(MixedGmres, SolvesElementGrowthDirectly) {
  expect_direct(inputs_of<double>(100, MatrixKind::wilkinson));
}

TEST_F(MixedGmres, SolvesElementsNearOverflowDirectly) {
  Inputs<double> inputs = inputs_of<double>(40, MatrixKind::diagonally_dominant);
  for (double& element : inputs.a.data) element = std::ldexp(element, 1000);
  EXPECT_EQ(expect_direct(inputs), 0);
}

TEST_F(MixedGmres, InfoIsThatOfTheDirectSolve) {
  Inputs<double> inputs = inputs_of<double>(400, MatrixKind::diagonally_dominant);
  for (std::int64_t i = 0; i < 400; ++i) inputs.a(i, 350) = 0;
  const Answer<double> ours = run(inputs);
  EXPECT_EQ(ours.info, 351);
  EXPECT_EQ(context->report.convergence, Convergence::none);
}

/// Returns the system with only the right-hand side `r`.
template <class T>
Inputs<T> with_column(const Inputs<T>& inputs, std::int64_t r) {
  const std::int64_t n = inputs.shape.n;
  Inputs<T> one = inputs;
  one.shape.nrhs = 1;
  one.b = HostMatrix<T>(n, 1);
  std::copy_n(inputs.b.data.begin() + r * n, n, one.b.data.begin());
  one.x_true = HostMatrix<T>(n, 1);
  std::copy_n(inputs.x_true.data.begin() + r * n, n, one.x_true.data.begin());
  return one;
}

class MixedGmresColumns : public MixedGmres, public testing::WithParamInterface<std::int64_t> {};

/// Right-hand sides have norms that differ by up to twelve decades, and one right-hand side is 0. Each must
/// be refined relative to its own norm.
TEST_P(MixedGmresColumns, RefinesEveryRightHandSideByItsOwnNorm) {
  const std::int64_t nrhs = GetParam();
  for (const std::int64_t n :
       small() ? std::vector<std::int64_t>{100} : std::vector<std::int64_t>{1, 33, 301, 1300}) {
    SCOPED_TRACE(testing::Message() << "n = " << n);
    Inputs<double> inputs = inputs_of<double>(n, MatrixKind::uniform, nrhs);
    expect_refined(inputs);
    const std::int64_t zero = nrhs / 2;
    for (std::int64_t r = 0; r < nrhs; ++r) {
      const double size =
          r == zero ? 0 : std::pow(10, -12 * static_cast<double>(r) / static_cast<double>(nrhs));
      for (std::int64_t i = 0; i < n; ++i) {
        inputs.b(i, r) *= size;
        inputs.x_true(i, r) *= size;
      }
    }
    const Answer<double> all = run(inputs);
    EXPECT_EQ(context->report.convergence, Convergence::converged);
    for (std::int64_t r = 0; r < nrhs; ++r) {
      Answer<double> one = all;
      one.x = HostMatrix<double>(n, 1);
      std::copy_n(all.x.data.begin() + r * n, n, one.x.data.begin());
      if (r == zero) {
        for (const double value : one.x.data) EXPECT_EQ(value, 0);
      } else {
        EXPECT_LE(check(mixed, with_column(inputs, r), one).ratio,
                  std::max(0.1, 8.0 / static_cast<double>(n)))
            << r;
      }
    }
  }
  expect_refined(inputs_of<float>(order(), MatrixKind::uniform, nrhs));
}

// The kernels take 1, 4, 8 or 16 right-hand sides at a time; 64 are refined together.
INSTANTIATE_TEST_SUITE_P(All, MixedGmresColumns, testing::Values(2, 5, 9, 17, 64, 70));

/// Right-hand sides that are refined together take the same steps as alone. All of them together therefore
/// take as many iterations as the slowest one.
TEST_F(MixedGmres, CountsTheIterationsOfTheSlowest) {
  const Inputs<double> inputs = inputs_of<double>(order(), MatrixKind::uniform, 3);
  std::int64_t slowest = 0;
  for (std::int64_t r = 0; r < 3; ++r) {
    run(with_column(inputs, r));
    slowest = std::max(slowest, context->report.iterations);
  }
  run(inputs);
  EXPECT_LE(context->report.iterations, slowest + 1);
  EXPECT_GE(context->report.iterations, slowest - 1);
}

/// 64 right-hand sides are refined together, as a group. If one of them cannot be refined, its whole group is
/// solved directly. Earlier groups stay refined.
TEST_F(MixedGmres, SolvesAGroupWithNaNDirectly) {
  const std::int64_t n = order();
  Inputs<double> inputs = inputs_of<double>(n, MatrixKind::uniform, 9);
  inputs.b(n / 2, 4) = std::numeric_limits<double>::quiet_NaN();
  expect_direct(inputs);
  inputs = inputs_of<double>(n, MatrixKind::uniform, 70);
  const Answer<double> refined = run(inputs);
  inputs.b(n / 2, 68) = std::numeric_limits<double>::quiet_NaN();
  const Answer<double> ours = run(inputs);
  EXPECT_EQ(context->report.convergence, Convergence::none);
  EXPECT_TRUE(std::equal(ours.x.data.begin(), ours.x.data.begin() + 64 * n, refined.x.data.begin()));
  for (std::int64_t i = 0; i < n; ++i) {
    EXPECT_TRUE(std::isfinite(ours.x(i, 65)));
    EXPECT_TRUE(std::isnan(ours.x(i, 68)));
  }
}

TEST_F(MixedGmres, ZeroRightHandSideGivesZero) {
  Inputs<double> inputs = inputs_of<double>(70, MatrixKind::uniform);
  std::fill(inputs.b.data.begin(), inputs.b.data.end(), 0.0);
  const Answer<double> ours = run(inputs);
  EXPECT_EQ(ours.info, 0);
  EXPECT_EQ(context->report.convergence, Convergence::converged);
  for (const double value : ours.x.data) EXPECT_EQ(value, 0);
}

TEST_F(MixedGmres, RepeatedRunsHaveTheSameBits) {
  expect_equal_runs(inputs_of<double>(small() ? 100 : 600, MatrixKind::uniform));
}

}  // namespace
}  // namespace gaussweep
