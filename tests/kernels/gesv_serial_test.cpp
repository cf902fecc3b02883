// Tests gesv/gauss_serial by hand on systems whose elimination and answers are exact.

#include <gtest/gtest.h>

#include "tests/kernels/try_method.hpp"

namespace gaussweep {
namespace {

template <class T>
Answer<T> solve(const Inputs<T>& inputs) {
  return testing_help::try_method(Problem::named("gesv"), "gauss_serial", inputs).answer;
}

template <class T>
class GaussSerial : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(GaussSerial, Precisions);

TYPED_TEST(GaussSerial, OrderOne) {
  const auto answer = solve(testing_help::equations<TypeParam>(1, 1, {4, 10}));
  EXPECT_EQ(answer.info, 0);
  EXPECT_EQ(answer.x(0, 0), TypeParam(2.5));
}

TYPED_TEST(GaussSerial, OrderTwo) {
  // 2x + 4y = 2, 3x + 8y = 7: row 1 becomes (1 2 | 1), row 2 (0 2 | 4), so y = 2, x = -3.
  const auto answer = solve(testing_help::equations<TypeParam>(2, 1, {2, 4, 2, 3, 8, 7}));
  EXPECT_EQ(answer.x.data, (std::vector<TypeParam>{-3, 2}));
}

TYPED_TEST(GaussSerial, OrderThreeWithTwoRightHandSides) {
  // (1 2 1; 2 6 4; 1 4 7) becomes (1 2 1; 0 1 1; 0 0 1) by the pivots 1, 2, 4. x = (1, 2, 3): b = (8, 26,
  // 30). x = (-1, 0, 2): b = (1, 6, 13).
  const auto answer = solve(testing_help::equations<TypeParam>(3, 2,
                                                               {1, 2, 1, 8, 1,   //
                                                                2, 6, 4, 26, 6,  //
                                                                1, 4, 7, 30, 13}));
  EXPECT_EQ(answer.info, 0);
  EXPECT_EQ(answer.x.data, (std::vector<TypeParam>{1, 2, 3, -1, 0, 2}));
}

TYPED_TEST(GaussSerial, OrderFourWithZeroMultipliers) {
  // Zeros below the diagonal are skipped, but not the rows after them. x = (1, -1, 2, 4).
  const auto answer = solve(testing_help::equations<TypeParam>(4, 1, {2, 0, 2, 0, 6,   //
                                                                      0, 4, 0, 4, 12,  //
                                                                      4, 0, 8, 8, 52,  //
                                                                      0, 2, 0, 4, 14}));
  EXPECT_EQ(answer.info, 0);
  EXPECT_EQ(answer.x.data, (std::vector<TypeParam>{1, -1, 2, 4}));
}

TYPED_TEST(GaussSerial, OrderFive) {
  // A = L U: L has ones on and below the diagonal, U = diag(2 1 4 1 2) plus ones; x = (1, 2, 3, 4, 5).
  const auto answer = solve(testing_help::equations<TypeParam>(5, 1, {2, 1, 1, 1, 1, 16,  //
                                                                      2, 2, 2, 2, 2, 30,  //
                                                                      2, 2, 6, 3, 3, 51,  //
                                                                      2, 2, 6, 4, 4, 60,  //
                                                                      2, 2, 6, 4, 6, 70}));
  EXPECT_EQ(answer.info, 0);
  EXPECT_EQ(answer.x.data, (std::vector<TypeParam>{1, 2, 3, 4, 5}));
}

TYPED_TEST(GaussSerial, ZeroPivotGivesInfo) {
  // The second pivot is 4 - 2 * 2 = 0. The system is solvable, but only with row exchanges.
  const auto answer = solve(testing_help::equations<TypeParam>(3, 1, {1, 2, 3, 6, 2, 4, 1, 7, 1, 1, 1, 3}));
  EXPECT_EQ(answer.info, 2);
  EXPECT_EQ(solve(testing_help::equations<TypeParam>(1, 1, {0, 1})).info, 1);
}

TYPED_TEST(GaussSerial, UnwrittenAnswerIsNaN) {
  const auto answer = solve(testing_help::equations<TypeParam>(2, 1, {0, 1, 1, 1, 0, 1}));
  EXPECT_EQ(answer.info, 1);
  EXPECT_NE(answer.x(0, 0), answer.x(0, 0));
  EXPECT_NE(answer.x(1, 0), answer.x(1, 0));
}

}  // namespace
}  // namespace gaussweep
