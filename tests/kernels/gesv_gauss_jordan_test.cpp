// Tests elimination with partial pivoting: by hand, on matrices that need it, and for equal bits of the three
// Gauss-Jordan methods.

#include "kernels/check/check.hpp"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

template <class T>
Answer<T> solve(const char* variant, const Inputs<T>& inputs, const ParameterChanges& changes = {},
                std::uint64_t shuffle_seed = 5) {
  return try_method(Problem::named("gesv"), variant, inputs, changes, shuffle_seed).answer;
}

const char* const gauss_jordan_methods[] = {"gauss_jordan_serial", "gauss_jordan_global",
                                            "gauss_jordan_shared"};

PRECISION_TEST_SUITE(GaussJordan);

TYPED_TEST(GaussJordan, PaperExample) {
  // (1 1 1; 1 2 4; 1 3 9) x = b with x = (1, -1, 1), and a second right-hand side with x = (1, 2, 3).
  const auto inputs = equations<TypeParam>(3, 2, {1, 1, 1, 1, 6, 1, 2, 4, -1, 17, 1, 3, 9, 1, 34});
  const std::vector<TypeParam> right{7, -8, 2, 1, 2, 3};
  for (const char* variant : gauss_jordan_methods) {
    EXPECT_EQ(solve(variant, inputs).x.data, right) << variant;
  }
  EXPECT_EQ(solve("gauss_serial", inputs, {{"pivoting", "partial"}}).x.data, right);
  EXPECT_EQ(solve("gauss_pivot_serial", inputs).x.data, right);
}

TYPED_TEST(GaussJordan, ZeroOnTheDiagonalNeedsPivoting) {
  // 2 y = 4, 3 x + y = 8.
  const auto inputs = equations<TypeParam>(2, 1, {0, 2, 4, 3, 1, 8});
  for (const char* variant : gauss_jordan_methods) {
    EXPECT_EQ(solve(variant, inputs).x.data, (std::vector<TypeParam>{2, 2})) << variant;
  }
  EXPECT_EQ(solve("gauss_serial", inputs, {{"pivoting", "none"}}).info, 1);
  EXPECT_EQ(solve("gauss_serial", inputs, {{"pivoting", "partial"}}).x.data, (std::vector<TypeParam>{2, 2}));
  EXPECT_EQ(solve("gauss_pivot_serial", inputs).x.data, (std::vector<TypeParam>{2, 2}));
}

TYPED_TEST(GaussJordan, SingularMatrixGivesInfo) {
  // The second column is twice the first, so elimination makes it 0.
  const auto inputs = equations<TypeParam>(3, 1, {1, 2, 3, 6, 2, 4, 1, 7, 4, 8, 1, 3});
  for (const char* variant : gauss_jordan_methods) EXPECT_EQ(solve(variant, inputs).info, 2) << variant;
  EXPECT_EQ(solve("gauss_serial", inputs, {{"pivoting", "partial"}}).info, 2);
  EXPECT_EQ(solve("gauss_pivot_serial", inputs).info, 2);
}

// gauss_pivot_serial, the textbook solver, divides by the diagonal only during back substitution. Here all
// operations are exact: the multipliers are 1/2 and 1/4, the last pivot is 6.
TYPED_TEST(GaussJordan, TraditionalSolverByHand) {
  // (4 2 4; 2 3 4; 1 1 8) with x = (1, 2, 3).
  const auto inputs = equations<TypeParam>(3, 1, {1, 1, 8, 27, 4, 2, 4, 20, 2, 3, 4, 20});
  EXPECT_EQ(solve("gauss_pivot_serial", inputs).x.data, (std::vector<TypeParam>{1, 2, 3}));
}

TYPED_TEST(GaussJordan, SameBitsOnEveryBackendTileAndGrid) {
  for (const std::int64_t n : {1, 2, 15, 16, 17, 33, 50}) {
    for (const std::int64_t nrhs : {1, 20}) {
      const auto inputs = square_inputs<TypeParam>("gesv", n, MatrixKind::uniform, nrhs, 9);
      const auto serial = solve("gauss_jordan_serial", inputs);
      EXPECT_EQ(serial.info, 0);
      for (const char* variant : {"gauss_jordan_global", "gauss_jordan_shared"}) {
        for (const char* tile : {"16", "32"}) {
          for (const char* grid : {"shrinking", "full"}) {
            EXPECT_TRUE(same_bits(solve(variant, inputs, {{"tile", tile}, {"grid", grid}}), serial))
                << variant << ", tile " << tile << ", grid " << grid << ", n " << n << ", nrhs " << nrhs;
          }
        }
      }
    }
  }
}

// With the grid `full` all n x n threads work in every iteration. With `shrinking` only those of the
// remaining columns do, half of them on average.
TEST(GaussJordanGrid, FullGridMovesTwiceAsMuch) {
  for (const auto& [problem, variant] : {std::pair{Problem::named("gesv"), "gauss_jordan_global"},
                                         std::pair{Problem::named("gesv"), "gauss_jordan_shared"},
                                         std::pair{Problem::named("geinv"), "gauss_jordan"}}) {
    const Method& method = *registry().find(problem, variant);
    Parameters parameters = defaults(method);
    const Shape shape{1000, 1000, 1000, 1, Uplo::lower};
    const double shrinking = method.bytes(shape, parameters, 8);
    parameters.set("grid", std::string("full"));
    EXPECT_NEAR(method.bytes(shape, parameters, 8) / shrinking, 2, 0.01) << variant;
  }
}

// Random matrices need exchanges; with exchanges the answers are as accurate as LAPACK's.
TYPED_TEST(GaussJordan, IsAccurateIfPivotingIsNeeded) {
  for (const std::int64_t n : {33, 80}) {
    auto inputs = square_inputs<TypeParam>("gesv", n, MatrixKind::uniform, 2, 4);
    for (std::int64_t i = 0; i < n; ++i) inputs.a(i, i) *= TypeParam(1e-4);
    inputs.b = right_hand_side<TypeParam>(inputs.a, inputs.x_true, 1);
    const auto ratio = [&](const char* variant, const ParameterChanges& changes) {
      const Method& method = *registry().find(Problem::named("gesv"), variant);
      return check(method, inputs, solve(variant, inputs, changes)).ratio;
    };
    EXPECT_LE(ratio("gauss_serial", {{"pivoting", "partial"}}), default_tolerance(Problem::named("gesv")))
        << n;
    EXPECT_LE(ratio("gauss_pivot_serial", {}), default_tolerance(Problem::named("gesv"))) << n;
    EXPECT_GT(ratio("gauss_serial", {{"pivoting", "none"}}), default_tolerance(Problem::named("gesv"))) << n;
    for (const char* variant : gauss_jordan_methods) {
      EXPECT_LE(ratio(variant, {}), default_tolerance(Problem::named("gesv"))) << variant << ", n " << n;
    }
  }
}

}  // namespace
}  // namespace gaussweep
