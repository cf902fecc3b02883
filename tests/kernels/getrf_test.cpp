// Tests getrf on matrices factored by hand. The fixed-point iteration must end with Crout's bits.

#include "kernels/check/check.hpp"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

template <class T>
Outcome<T> factorise(const char* variant, const Inputs<T>& inputs, const ParameterChanges& changes = {},
                     std::uint64_t shuffle_seed = 0) {
  return try_method(Problem::named("getrf"), variant, inputs, changes, shuffle_seed);
}

template <class T>
Inputs<T> inputs_of_kind(MatrixKind kind, std::int64_t n) {
  return square_inputs<T>("getrf", n, kind, 1, 3);
}

PRECISION_TEST_SUITE(Getrf);

TYPED_TEST(Getrf, ByHand) {
  // (2 4 6; 3 8 13; 1 4 11) = (2 0 0; 3 2 0; 1 2 4) (1 2 3; 0 1 2; 0 0 1).
  const auto inputs = square<TypeParam>(3, {2, 3, 1, 4, 8, 4, 6, 13, 11});
  const std::vector<TypeParam> right{2, 3, 1, 2, 2, 2, 3, 2, 4};
  EXPECT_EQ(factorise("crout_serial", inputs).answer.x.data, right);
  EXPECT_EQ(factorise("fixed_point", inputs).answer.x.data, right);
  EXPECT_EQ(factorise("fixed_point", inputs, {{"update", "in_place"}}).answer.x.data, right);
  // With pivoting 3 is the first pivot: rows 0 and 1 are exchanged.
  const auto pivoted = factorise("lapack", inputs).answer;
  ASSERT_EQ(pivoted.pivots.size(), 3u);
  EXPECT_EQ(pivoted.pivots[0], 1);
}

TYPED_TEST(Getrf, OrderOneTakesOneIteration) {
  const auto run = factorise("fixed_point", square<TypeParam>(1, {5}));
  EXPECT_EQ(run.answer.x.data, (std::vector<TypeParam>{5}));
  EXPECT_EQ(run.report.convergence, Convergence::converged);
  EXPECT_EQ(run.report.iterations, 1);
  EXPECT_EQ(run.report.history, std::vector<double>{0});
}

// This holds even if elements grow without bound during the iteration.
TYPED_TEST(Getrf, FixedPointEndsWithCroutsBits) {
  for (const MatrixKind kind :
       {MatrixKind::diagonally_dominant, MatrixKind::cauchy, MatrixKind::uniform, MatrixKind::spd}) {
    for (const std::int64_t n : {2, 7, 33, 70}) {
      const auto inputs = inputs_of_kind<TypeParam>(kind, n);
      const auto crout = factorise("crout_serial", inputs);
      ASSERT_EQ(crout.answer.info, 0);
      for (const char* update : {"double_buffered", "in_place"}) {
        const auto run = factorise("fixed_point", inputs, {{"update", update}}, 11);
        const std::string what =
            std::string(update) + ", " + std::string(to_string(kind)) + ", n " + std::to_string(n);
        EXPECT_TRUE(same_bits(run.answer, crout.answer)) << what;
        EXPECT_EQ(run.report.convergence, Convergence::converged) << what;
        EXPECT_LE(run.report.iterations, 2 * n) << what;
        EXPECT_EQ(run.report.history.size(), static_cast<std::size_t>(run.report.iterations)) << what;
        EXPECT_EQ(run.report.history.back(), 0) << what;
      }
    }
  }
}

TYPED_TEST(Getrf, DominantDiagonalNeedsFewIterations) {
  const auto run = factorise("fixed_point", inputs_of_kind<TypeParam>(MatrixKind::diagonally_dominant, 97));
  EXPECT_EQ(run.report.convergence, Convergence::converged);
  EXPECT_LT(run.report.iterations, 40);
}

TYPED_TEST(Getrf, ScaledStartIsCloserAndEndsWithTheSameBits) {
  const auto inputs = inputs_of_kind<TypeParam>(MatrixKind::diagonally_dominant, 97);
  for (const char* update : {"double_buffered", "in_place"}) {
    const auto from_a = factorise("fixed_point", inputs, {{"update", update}, {"start", "matrix"}}, 11);
    const auto scaled = factorise("fixed_point", inputs, {{"update", update}, {"start", "scaled"}}, 11);
    EXPECT_TRUE(same_bits(from_a.answer, scaled.answer)) << update;
    EXPECT_LT(scaled.report.history.front(), from_a.report.history.front()) << update;
    EXPECT_LE(scaled.report.iterations, from_a.report.iterations) << update;
  }
  // A zero on the diagonal does not prevent the start: the factors have 0 - 2 * 3 there.
  const auto zero = square<TypeParam>(2, {1, 2, 3, 0});
  EXPECT_EQ(factorise("fixed_point", zero, {{"start", "scaled"}}).answer.x.data,
            (std::vector<TypeParam>{1, 2, 3, -6}));
}

TYPED_TEST(Getrf, ToleranceStopsEarlierAndIsLessAccurate) {
  const auto inputs = inputs_of_kind<TypeParam>(MatrixKind::diagonally_dominant, 64);
  const auto exact = factorise("fixed_point", inputs);
  const auto rough = factorise("fixed_point", inputs, {{"change_tolerance", 0.001}});
  EXPECT_EQ(rough.report.convergence, Convergence::converged);
  EXPECT_LT(rough.report.iterations, exact.report.iterations);
  EXPECT_LE(rough.report.history.back(), 0.001);
  EXPECT_GT(rough.report.history[rough.report.history.size() - 2], 0.001);
  EXPECT_FALSE(same_bits(rough.answer, exact.answer));
}

TYPED_TEST(Getrf, RespectsMaxIterations) {
  const auto inputs = inputs_of_kind<TypeParam>(MatrixKind::diagonally_dominant, 64);
  const auto run = factorise("fixed_point", inputs, {{"max_iterations", std::int64_t{5}}});
  EXPECT_EQ(run.report.convergence, Convergence::max_iterations);
  EXPECT_EQ(run.report.iterations, 5);
  // An odd number of iterations ends in the second buffer, which must be the answer.
  const auto next = factorise("fixed_point", inputs, {{"max_iterations", std::int64_t{6}}});
  EXPECT_FALSE(same_bits(run.answer, next.answer));
  const auto exact = factorise("crout_serial", inputs).answer;
  double far = 0, near = 0;
  for (std::size_t k = 0; k < exact.x.data.size(); ++k) {
    far = std::max(far, std::fabs(double(run.answer.x.data[k]) - double(exact.x.data[k])));
    near = std::max(near, std::fabs(double(next.answer.x.data[k]) - double(exact.x.data[k])));
  }
  EXPECT_LT(near, far);
}

TYPED_TEST(Getrf, GrowthIsDivergence) {
  const auto run = factorise("fixed_point", inputs_of_kind<TypeParam>(MatrixKind::uniform, 64),
                             {{"max_iterations", std::int64_t{10}}});
  EXPECT_EQ(run.report.convergence, Convergence::diverged);
  EXPECT_EQ(run.report.iterations, 10);
}

TYPED_TEST(Getrf, ZeroPivotGivesInfo) {
  // The second pivot is 4 - 2 * 2 = 0; u(1, 2) is then 1 / 0.
  const auto inputs = square<TypeParam>(3, {1, 2, 1, 2, 4, 1, 3, 7, 1});
  EXPECT_EQ(factorise("crout_serial", inputs).answer.info, 2);
  const auto run = factorise("fixed_point", inputs);
  EXPECT_EQ(run.answer.info, 2);
  EXPECT_EQ(run.report.convergence, Convergence::diverged);
  EXPECT_LE(run.report.iterations, 6);
  EXPECT_EQ(factorise("lapack", square<TypeParam>(2, {0, 0, 1, 1})).answer.info, 1);
}

TYPED_TEST(Getrf, NanIsDivergence) {
  auto inputs = inputs_of_kind<TypeParam>(MatrixKind::diagonally_dominant, 20);
  inputs.a(4, 5) = std::numeric_limits<TypeParam>::quiet_NaN();
  const auto run = factorise("fixed_point", inputs);
  EXPECT_EQ(run.report.convergence, Convergence::diverged);
  EXPECT_TRUE(std::isnan(run.report.history.back()));
}

}  // namespace
}  // namespace gaussweep
