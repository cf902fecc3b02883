// Tests the difference between two answers, which records report for a method against the vendor's.
#include "kernels/check/check.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Treats NaN as equal to NaN.
std::string text_of(const Difference& d) {
  std::string text;
  for (const double value : {d.largest, d.largest_relative, d.mean_relative, d.mean_absolute})
    text += std::to_string(std::fabs(value)) + " ";
  return text;
}

PRECISION_TEST_SUITE(AnswerDifference);

TYPED_TEST(AnswerDifference, IgnoresOtherTrianglesAndIsRelativeToTheReference) {
  using T = TypeParam;
  const T rubbish = std::numeric_limits<T>::quiet_NaN();
  const Shape shape{2, 2, 2, 1, Uplo::lower};
  Answer<T> reference, answer;
  reference.x = matrix<T>(2, 2, {1, 2, 3, -4});
  answer.x = matrix<T>(2, 2, {1, 2, 5, -4});
  EXPECT_EQ(difference(Problem::named("geinv"), shape, reference, reference).largest, 0);
  EXPECT_EQ(difference(Problem::named("geinv"), shape, answer, reference).largest, 0.5);
  EXPECT_EQ(difference(Problem::named("potrf"), shape, answer, reference).largest,
            0);  // (0, 1) is not in the lower triangle
  EXPECT_EQ(difference(Problem::named("trtri"), {2, 2, 2, 1, Uplo::upper}, answer, reference).largest, 0.5);
  answer.x(0, 1) = rubbish;
  EXPECT_EQ(difference(Problem::named("potrf"), shape, answer, reference).largest, 0);
  EXPECT_EQ(difference(Problem::named("geinv"), shape, answer, reference).largest, infinity);
  EXPECT_TRUE(std::isnan(difference(Problem::named("geinv"), shape, reference, answer).largest));

  answer = reference;
  reference.pivots = {0, 1};  // equal to no pivots
  EXPECT_EQ(difference(Problem::named("getrf"), shape, answer, reference).largest, 0);
  reference.pivots = {1, 1};
  EXPECT_TRUE(std::isnan(difference(Problem::named("getrf"), shape, answer, reference).largest));
}

TYPED_TEST(AnswerDifference, DifferenceFromItselfEqualsThatFromACopy) {
  using T = TypeParam;
  const Problem inverse = Problem::named("geinv");
  const Shape shape{2, 2, 2, 1, Uplo::lower};
  for (const T scale : {T(1), T(0)}) {
    Answer<T> reference = answer_of<T>(matrix<T>(2, 2, {1 * scale, 2 * scale, 3 * scale, -4 * scale}));
    const Answer<T> copy = reference;
    const Difference from_itself = difference(inverse, shape, reference, reference);
    const Difference from_copy = difference(inverse, shape, copy, reference);
    EXPECT_EQ(text_of(from_itself), text_of(from_copy));
    EXPECT_EQ(from_itself.mean_absolute, 0);
  }
}

TYPED_TEST(AnswerDifference, UsesTheGivenNormOfTheReference) {
  using T = TypeParam;
  const Shape shape{2, 2, 2, 1, Uplo::lower};
  const Problem inverse = Problem::named("geinv");
  Answer<T> reference, answer;
  reference.x = matrix<T>(2, 2, {1, 2, -8, 4});
  answer.x = matrix<T>(2, 2, {1, 2, -8, 6});
  EXPECT_EQ(norm_of_answer(inverse, shape, reference), 8);
  EXPECT_EQ(norm_of_answer(Problem::named("potrf"), shape, reference), 4) << "one triangle";
  EXPECT_EQ(difference(inverse, shape, answer, reference, 8).largest, 0.25);
  EXPECT_TRUE(std::isnan(difference(inverse, shape, answer, reference, infinity).largest));
}

TYPED_TEST(AnswerDifference, ElementDifferences) {
  using T = TypeParam;
  const Shape shape{2, 2, 2, 1, Uplo::lower};
  Answer<T> reference, answer;
  reference.x = matrix<T>(2, 2, {1, 2, 4, -4});
  answer.x = matrix<T>(2, 2, {1, 2, 7, -4});
  const auto expect = [&](Problem problem, const Shape& shape_of_case, double largest, double mean,
                          double absolute) {
    const Difference found = difference(problem, shape_of_case, answer, reference);
    EXPECT_DOUBLE_EQ(found.largest_relative, largest);
    EXPECT_DOUBLE_EQ(found.mean_relative, mean);
    EXPECT_DOUBLE_EQ(found.mean_absolute, absolute);
  };
  expect(Problem::named("geinv"), shape, 0.75, 0.75 / 4, 3.0 / 4);
  expect(Problem::named("trtri"), {2, 2, 2, 1, Uplo::upper}, 0.75, 0.75 / 3, 3.0 / 3);
  expect(Problem::named("potrf"), shape, 0, 0, 0);  // (0, 1) is not in the lower triangle
  reference.x(0, 1) = 0;                            // a difference without a relative difference
  expect(Problem::named("geinv"), shape, 0, 0, 7.0 / 4);
  answer.x(0, 1) = std::numeric_limits<T>::infinity();
  expect(Problem::named("geinv"), shape, infinity, infinity, infinity);
  constexpr T huge = std::numeric_limits<T>::max();  // differences beyond the range
  answer.x = matrix<T>(2, 2, {huge, -huge, huge, -huge});
  reference.x = matrix<T>(2, 2, {-huge, huge, -huge, huge});
  expect(Problem::named("geinv"), shape, 2, 2,
         std::is_same_v<T, float> ? 2.0 * huge : std::numeric_limits<double>::max());
  reference.x = matrix<T>(2, 2, {0, 0, 0, 0});
  EXPECT_TRUE(std::isnan(difference(Problem::named("geinv"), shape, answer, reference).largest_relative));
  EXPECT_TRUE(std::isnan(difference(Problem::named("geinv"), shape, answer, reference).mean_relative));
}

}  // namespace
}  // namespace gaussweep
