// Tests the properties of a matrix that are reported to users: norms, symmetry, dominance, condition.
#include "kernels/check/facts.hpp"
#include "kernels/matrix/generate.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

/// Returns a matrix from elements given by rows.
HostMatrix<double> matrix(std::int64_t rows, std::int64_t cols, std::initializer_list<double> elements) {
  HostMatrix<double> a(rows, cols);
  auto next = elements.begin();
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) a(i, j) = *next++;
  }
  return a;
}

Conditioning conditioning(HostMatrix<double> a) {
  const MatrixFacts facts = facts_of(a);
  return conditioning_of(std::move(a), facts);
}

HostMatrix<double> generated(MatrixKind kind, std::int64_t n) {
  MatrixSpec spec;
  spec.kind = kind;
  spec.rows = spec.cols = n;
  return generate<double>(spec);
}

TEST(Facts, CountAndMeasureEveryElement) {
  const MatrixFacts facts = facts_of(matrix(2, 3, {1, -2, 0, 3, 0, -4}));
  EXPECT_EQ(std::tuple(facts.rows, facts.cols, facts.nonzeros, facts.largest), std::tuple(2, 3, 4, 4));
  EXPECT_EQ(facts.norm_1, 4);
  EXPECT_EQ(facts.norm_inf, 7);
  EXPECT_DOUBLE_EQ(facts.norm_frobenius, std::sqrt(30.0));
  EXPECT_FALSE(facts.is_symmetric);
  EXPECT_FALSE(facts.is_triangular());
}

TEST(Facts, SymmetryAllowsForRoundingAndAsymmetryIsMeasured) {
  EXPECT_TRUE(facts_of(matrix(2, 2, {1, 5, 5, 1})).is_symmetric);
  const MatrixFacts nearly = facts_of(matrix(2, 2, {1, 4, 3, 1}));
  EXPECT_FALSE(nearly.is_symmetric);
  EXPECT_EQ(nearly.asymmetry, 0.25);
  const double u = roundoff_of(Precision::float64);
  EXPECT_TRUE(facts_of(matrix(2, 2, {1, 1, 1 + 2 * u, 1})).is_symmetric) << "a difference of n u is allowed";
  const HostMatrix<double> more = matrix(2, 2, {1, 1, 1 + 8 * u, 1});
  EXPECT_FALSE(facts_of(more).is_symmetric);
  EXPECT_TRUE(facts_of(more, roundoff_of(Precision::float32)).is_symmetric);
  // The largest difference does not overflow.
  EXPECT_EQ(facts_of(matrix(2, 2, {1, 1e308, -1e308, 1})).asymmetry, 2);
}

TEST(Facts, TriangleOfAView) {
  const std::vector<float> upper = {1, 0, 7, 2};
  const MatrixView<const float> view{upper.data(), 2, 2, 2};
  EXPECT_TRUE(is_triangular(view, Uplo::upper));
  EXPECT_FALSE(is_triangular(view, Uplo::lower));
  const std::vector<float> diagonal = {1, 0, 0, 2};
  for (const Uplo uplo : {Uplo::lower, Uplo::upper})
    EXPECT_TRUE(is_triangular(MatrixView<const float>{diagonal.data(), 2, 2, 2}, uplo));
}

TEST(Facts, DominanceIsStrictWeakOrNone) {
  const MatrixFacts strict = facts_of(matrix(2, 2, {3, -2, 1, 2}));
  EXPECT_EQ(strict.by_rows, Dominance::strict);
  EXPECT_EQ(strict.by_columns, Dominance::weak);
  EXPECT_EQ(facts_of(matrix(2, 2, {1, 2, 0, 1})).by_rows, Dominance::none);
  // Sums beyond double's range
  EXPECT_EQ(facts_of(matrix(3, 3, {1e308, 1e308, 1e308, 0, 1, 0, 0, 0, 1})).by_rows, Dominance::none);
}

TEST(Facts, CountZerosOnTheDiagonalAndBandwidths) {
  const MatrixFacts facts = facts_of(matrix(3, 3, {1, 0, 0, 0, 0, 0, 7, 0, 0}));
  EXPECT_EQ(facts.zero_diagonals, 2);
  EXPECT_EQ(facts.first_zero_diagonal, 2);
  EXPECT_EQ(facts.lower_bandwidth, 2);
  EXPECT_EQ(facts.upper_bandwidth, 0);
  EXPECT_TRUE(facts.is_triangular());
  EXPECT_EQ(facts.triangle(), Uplo::lower);
  EXPECT_EQ(facts_of(matrix(2, 2, {1, 2, 0, 1})).triangle(), Uplo::upper);
}

TEST(Facts, DefiniteMeansCholeskySucceeds) {
  EXPECT_TRUE(conditioning(matrix(2, 2, {2, -1, -1, 2})).is_definite);
  EXPECT_FALSE(conditioning(matrix(2, 2, {1, 2, 2, 1})).is_definite);   // positive diagonal, but indefinite
  EXPECT_FALSE(conditioning(matrix(2, 2, {2, -1, 1, 2})).is_definite);  // not symmetric
  EXPECT_TRUE(conditioning(generated(MatrixKind::spd, 65)).is_definite);
  EXPECT_TRUE(conditioning(matrix(2, 2, {1, 0, 0, 1e-16})).is_definite);  // also beyond 1/epsilon
}

TEST(Facts, KnownConditionNumbers) {
  EXPECT_DOUBLE_EQ(conditioning(generated(MatrixKind::identity, 5)).condition, 1);
  EXPECT_DOUBLE_EQ(conditioning(matrix(2, 2, {2, -1, -1, 2})).condition, 3);      // Cholesky
  EXPECT_DOUBLE_EQ(conditioning(matrix(2, 2, {1, 2, 2, 1})).condition, 3);        // LU after Cholesky failed
  EXPECT_DOUBLE_EQ(conditioning(matrix(2, 2, {1, 2, 3, 4})).condition, 21);       // LU
  EXPECT_DOUBLE_EQ(conditioning(matrix(2, 2, {1, 0, 2, 4})).condition, 4 * 1.5);  // triangle
  EXPECT_NEAR(conditioning(generated(MatrixKind::hilbert, 5)).condition, 943656, 1);  // textbook value
  // Very large and very small elements neither overflow nor underflow.
  EXPECT_DOUBLE_EQ(conditioning(matrix(2, 2, {1e300, 2e300, 3e300, 4e300})).condition, 21);
  EXPECT_DOUBLE_EQ(conditioning(matrix(2, 2, {1e-300, 2e-300, 3e-300, 4e-300})).condition, 21);
}

TEST(Facts, SingularMatricesNameTheirPivot) {
  for (const HostMatrix<double>& a :
       {matrix(2, 2, {1, 2, 2, 4}), matrix(2, 2, {1, 0, 3, 0}), matrix(2, 2, {0, 0, 0, 0}),
        matrix(3, 3, {1, 0, 1, 0, 1, 0, 1, 0, 1})}) {
    EXPECT_TRUE(std::isinf(conditioning(a).condition));
    EXPECT_FALSE(conditioning(a).is_definite);
  }
  EXPECT_EQ(conditioning(matrix(2, 2, {1, 2, 2, 4})).zero_pivot, 2);
  EXPECT_EQ(conditioning(matrix(2, 2, {1, 0, 3, 0})).zero_pivot, 2);
  EXPECT_EQ(conditioning(matrix(2, 2, {0, 0, 0, 0})).zero_pivot, 1);
}

}  // namespace
}  // namespace gaussweep
