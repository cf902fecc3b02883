// Tests geinv by hand, against LAPACK, and bit by bit against Gauss-Jordan elimination in plain loops.

#include "tests/kernels/method_cases.hpp"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

const std::vector<std::string> ours{"gauss_jordan", "gauss_jordan_pivot"};

template <class T>
Answer<T> invert(const std::string& variant, const Inputs<T>& inputs, StageSink* stages = nullptr,
                 const std::string& threads = "512", const std::string& grid = "shrinking") {
  return try_method(Problem::named("geinv"), variant, inputs, {{"threads", threads}, {"grid", grid}}, 5,
                    stages)
      .answer;
}

template <class T>
Inputs<T> geinv_inputs(MatrixKind kind, std::int64_t n) {
  return square_inputs<T>("geinv", n, kind, 1, 3);
}

/// Inverts like the methods, with the same operations in the same order on all of [A | I], in plain loops.
/// @param takes_largest the pivot is the largest element of the column, not the first nonzero one
template <class T>
HostMatrix<T> twin(HostMatrix<T> a, bool takes_largest) {
  const std::int64_t n = a.rows;
  HostMatrix<T> x(n, n);
  for (std::int64_t i = 0; i < n; ++i) x(i, i) = 1;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i) {
      const bool better = takes_largest ? std::fabs(a(i, k)) > std::fabs(a(pivot, k)) : a(pivot, k) == 0;
      if (better) pivot = i;
    }
    const T value = a(pivot, k);
    for (HostMatrix<T>* m : {&a, &x}) {
      for (std::int64_t j = 0; j < n; ++j) std::swap((*m)(k, j), (*m)(pivot, j));
    }
    std::vector<T> factors;
    for (std::int64_t i = 0; i < n; ++i) factors.push_back(a(i, k));
    for (HostMatrix<T>* m : {&a, &x}) {
      for (std::int64_t j = 0; j < n; ++j) {
        const T above = (*m)(k, j) /= value;
        for (std::int64_t i = 0; i < n; ++i) {
          if (i != k) (*m)(i, j) = std::fma(-factors[i], above, (*m)(i, j));
        }
      }
    }
  }
  return x;
}

PRECISION_TEST_SUITE(Geinv);

TYPED_TEST(Geinv, ByHand) {
  using T = TypeParam;
  for (const std::string& variant : ours) {
    const auto run = invert(variant, square<T>(2, {4, 2, 2, 2}));
    EXPECT_EQ(run.info, 0);
    EXPECT_EQ(run.x.data, (std::vector<T>{0.5, -0.5, -0.5, 1})) << variant;
    EXPECT_EQ(invert(variant, square<T>(1, {-4})).x.data, (std::vector<T>{-0.25})) << variant;
  }
}

// The inverse of a permutation is its transpose. Each pivot but the last is 0 until rows are exchanged.
TYPED_TEST(Geinv, PermutationsAreExact) {
  using T = TypeParam;
  const auto cycle = square<T>(3, {0, 1, 0, 0, 0, 1, 1, 0, 0});
  for (const std::string& variant : ours) {
    Stages stages;
    EXPECT_EQ(invert(variant, cycle, &stages).x.data, (std::vector<T>{0, 0, 1, 1, 0, 0, 0, 1, 0})) << variant;
    EXPECT_EQ(stages.calls["switch"], 2) << variant;
  }
}

// The paper's example: after the first step the second pivot is 0, and the third row has a 7.
TYPED_TEST(Geinv, ZeroPivotTakesTheFirstNonzeroRowBelow) {
  using T = TypeParam;
  const auto inputs = square<T>(3, {1, 0, 0, 3, 0, 7, 2, 5, 9});
  const auto expected = invert("lapack", inputs).x;
  Stages stages;
  const auto found = invert("gauss_jordan", inputs, &stages).x;
  for (std::size_t k = 0; k < 9; ++k)
    EXPECT_NEAR(found.data[k], expected.data[k], 8 * std::numeric_limits<T>::epsilon());
  EXPECT_EQ(stages.calls,
            (std::map<std::string, int>{
                {"identity", 1}, {"copy_column", 3}, {"switch", 1}, {"normalise", 3}, {"update", 3}}));
}

TYPED_TEST(Geinv, EqualsPlainLoopsToTheBit) {
  using T = TypeParam;
  for (const std::int64_t n : {2, 31, 70}) {
    auto inputs = geinv_inputs<T>(MatrixKind::uniform, n);
    inputs.a(0, 0) = 0;  // makes the method without pivoting exchange rows too
    for (const std::string& variant : ours) {
      for (const char* threads : {"512", "1024", "256", "128"}) {
        for (const char* grid : {"shrinking", "full"}) {
          const Answer<T> found = invert(variant, inputs, nullptr, threads, grid);
          EXPECT_EQ(found.info, 0);
          EXPECT_EQ(found.x.data, twin(inputs.a, variant == "gauss_jordan_pivot").data)
              << variant << n << grid;
        }
      }
    }
  }
}

// A pivot of 1e-20 among ones: without pivoting the inverse is far off, with pivoting it is right.
TYPED_TEST(Geinv, PivotingHandlesSmallPivots) {
  using T = TypeParam;
  const auto inputs = square<T>(2, {T(1e-20), 1, 1, 1});
  const auto ratio = [&](const std::string& variant) {
    return check(*registry().find(Problem::named("geinv"), variant), inputs, invert(variant, inputs)).ratio;
  };
  EXPECT_LT(ratio("gauss_jordan_pivot"), 30);
  EXPECT_GT(ratio("gauss_jordan"), 300);
}

TYPED_TEST(Geinv, ColumnWithoutAPivotGivesInfo) {
  using T = TypeParam;
  // Column 1 is twice column 0; column 0 is zero; the last row is zero.
  for (const auto& [columns, info] :
       std::vector<std::pair<std::vector<T>, int>>{{{1, 2, 4, 2, 4, 8, 1, 1, 5}, 2},
                                                   {{0, 0, 0, 1, 2, 3, 4, 5, 7}, 1},
                                                   {{1, 0, 0, 0, 1, 0, 5, 5, 0}, 3}}) {
    const auto inputs = square<T>(3, columns);
    EXPECT_EQ(invert("lapack", inputs).info, info);
    for (const std::string& variant : ours) EXPECT_EQ(invert(variant, inputs).info, info) << variant;
    EXPECT_EQ(invert("recursive", inputs).info, info);
  }
}

// Order 300 needs two solves of at most 256 rows, and a padded copy, because it is no multiple of 64. The
// first pivot is in the last row.
TYPED_TEST(Geinv, RecursiveIsAsAccurateAsLapack) {
  using T = TypeParam;
  for (const std::int64_t n : {64, 300}) {
    auto inputs = geinv_inputs<T>(MatrixKind::uniform, n);
    inputs.a(n - 1, 0) = 2;
    const auto ratio = [&](const std::string& variant) {
      const Answer<T> found = invert(variant, inputs);
      EXPECT_EQ(found.info, 0);
      return check(*registry().find(Problem::named("geinv"), variant), inputs, found).ratio;
    };
    EXPECT_LT(ratio("recursive"), 2 * ratio("lapack")) << n;
  }
}

}  // namespace
}  // namespace gaussweep
