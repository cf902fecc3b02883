// Tests gesv/gauss_serial by hand on systems whose elimination and answers are exact.

#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

template <class T>
Answer<T> solve(const Inputs<T>& inputs) {
  return try_method(Problem::named("gesv"), "gauss_serial", inputs).answer;
}

PRECISION_TEST_SUITE(GaussSerial);

TYPED_TEST(GaussSerial, ByHand) {
  using T = TypeParam;
  const auto expect = [](std::int64_t nrhs, std::initializer_list<double> rows, std::vector<T> x) {
    const auto n = static_cast<std::int64_t>(x.size()) / nrhs;
    SCOPED_TRACE(n);
    const auto answer = solve(equations<T>(n, nrhs, rows));
    EXPECT_EQ(answer.info, 0);
    EXPECT_EQ(answer.x.data, x);
  };
  expect(1, {4, 10}, {T(2.5)});
  // Row 1 becomes (1 2 | 1), row 2 (0 2 | 4).
  expect(1, {2, 4, 2, 3, 8, 7}, {-3, 2});
  // (1 2 1; 2 6 4; 1 4 7) becomes (1 2 1; 0 1 1; 0 0 1) by the pivots 1, 2, 4.
  expect(2, {1, 2, 1, 8, 1, 2, 6, 4, 26, 6, 1, 4, 7, 30, 13}, {1, 2, 3, -1, 0, 2});
  // Zeros below the diagonal are skipped, but not the rows after them.
  expect(1, {2, 0, 2, 0, 6, 0, 4, 0, 4, 12, 4, 0, 8, 8, 52, 0, 2, 0, 4, 14}, {1, -1, 2, 4});
  // A = L U: L has ones on and below the diagonal, U = diag(2 1 4 1 2) plus ones.
  expect(1, {2, 1, 1, 1, 1, 16, 2, 2, 2, 2, 2, 30, 2, 2, 6, 3, 3, 51, 2, 2, 6, 4, 4, 60, 2, 2, 6, 4, 6, 70},
         {1, 2, 3, 4, 5});
}

TYPED_TEST(GaussSerial, ZeroPivotGivesInfo) {
  // The second pivot is 4 - 2 * 2 = 0. The system is solvable, but only with row exchanges.
  const auto answer = solve(equations<TypeParam>(3, 1, {1, 2, 3, 6, 2, 4, 1, 7, 1, 1, 1, 3}));
  EXPECT_EQ(answer.info, 2);
  EXPECT_EQ(solve(equations<TypeParam>(1, 1, {0, 1})).info, 1);
}

TYPED_TEST(GaussSerial, UnwrittenAnswerIsNaN) {
  const auto answer = solve(equations<TypeParam>(2, 1, {0, 1, 1, 1, 0, 1}));
  EXPECT_EQ(answer.info, 1);
  EXPECT_NE(answer.x(0, 0), answer.x(0, 0));
  EXPECT_NE(answer.x(1, 0), answer.x(1, 0));
}

}  // namespace
}  // namespace gaussweep
