// Tests gesv/crout and gesv/lu_fixed_point: by hand, with several right-hand sides, and for equal bits.

#include "kernels/check/check.hpp"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

template <class T>
Outcome<T> solve(const char* variant, const Inputs<T>& inputs, const ParameterChanges& changes = {}) {
  return try_method(Problem::named("gesv"), variant, inputs, changes, 3);
}

PRECISION_TEST_SUITE(GesvLu);

TYPED_TEST(GesvLu, ByHand) {
  // (2 4 6; 3 8 13; 1 4 11) with x = (1, 2, 3) and x = (0, 1, -1).
  const auto inputs = equations<TypeParam>(3, 2, {2, 4, 6, 28, -2, 3, 8, 13, 58, -5, 1, 4, 11, 42, -7});
  const std::vector<TypeParam> right{1, 2, 3, 0, 1, -1};
  EXPECT_EQ(solve("crout", inputs).answer.x.data, right);
  EXPECT_EQ(solve("lu_fixed_point", inputs).answer.x.data, right);
}

TYPED_TEST(GesvLu, SameBitsForEveryRightHandSide) {
  for (const MatrixKind kind : {MatrixKind::diagonally_dominant, MatrixKind::cauchy}) {
    for (const std::int64_t n : {1, 2, 33, 65}) {
      const auto inputs = square_inputs<TypeParam>("gesv", n, kind, 5);
      const auto crout = solve("crout", inputs);
      EXPECT_EQ(crout.answer.info, 0);
      for (const char* update : {"double_buffered", "in_place"}) {
        const auto run = solve("lu_fixed_point", inputs, {{"update", update}});
        EXPECT_EQ(run.report.convergence, Convergence::converged);
        EXPECT_TRUE(same_bits(run.answer, crout.answer)) << update << ", " << to_string(kind) << ", n " << n;
      }
    }
  }
}

// The paper's tolerance 0.001 stops too early for double, and the verification reports it. It suffices for
// float here: a dominant matrix gains more than a digit per iteration.
TYPED_TEST(GesvLu, PapersToleranceIsTooLargeForDouble) {
  const Method& method = row_of("gesv/lu_fixed_point");
  const auto inputs = square_inputs<TypeParam>("gesv", 80, MatrixKind::diagonally_dominant);
  const auto exact = solve("lu_fixed_point", inputs);
  const auto rough = solve("lu_fixed_point", inputs, {{"change_tolerance", 0.001}});
  EXPECT_EQ(rough.report.convergence, Convergence::converged);
  EXPECT_LT(rough.report.iterations, exact.report.iterations);
  if (sizeof(TypeParam) == 8) {
    EXPECT_GT(check(method, inputs, rough.answer).ratio, 1000 * check(method, inputs, exact.answer).ratio);
  }
}

TYPED_TEST(GesvLu, ZeroPivotGivesInfo) {
  const auto inputs = equations<TypeParam>(2, 1, {1, 2, 1, 2, 4, 3});
  EXPECT_EQ(solve("crout", inputs).answer.info, 2);
  EXPECT_EQ(solve("lu_fixed_point", inputs).answer.info, 2);
}

}  // namespace
}  // namespace gaussweep
