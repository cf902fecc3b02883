// Tests the error of a computed inverse.

#include "driver/worker/inverse_error.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

HostMatrix<double> matrix(std::int64_t n, const std::vector<double>& by_columns) {
  HostMatrix<double> m(n, n);
  std::copy(by_columns.begin(), by_columns.end(), m.data.begin());
  return m;
}

TEST(InverseError, IsThatOfAnInverseThatIsOffByAKnownFactor) {
  const double factor = 1 + 1e-9;
  const HostMatrix<double> a = matrix(2, {2, 1, 1, 1});
  EXPECT_NEAR(inverse_error(Problem::named("geinv"), Uplo::lower, a,
                            matrix(2, {factor, -factor, -factor, 2 * factor})),
              1e-9, 1e-11);
  EXPECT_EQ(inverse_error(Problem::named("geinv"), Uplo::lower, a, matrix(2, {1, -1, -1, 2})), 0);
  EXPECT_TRUE(std::isnan(inverse_error(Problem::named("geinv"), Uplo::lower, a, matrix(2, {1, -1, NAN, 2}))));
}

TEST(InverseError, LooksAtTheTriangleThatCounts) {
  EXPECT_EQ(inverse_error(Problem::named("trtri"), Uplo::lower, matrix(2, {2, 1, 7, 1}),
                          matrix(2, {0.5, -0.5, 9, 1})),
            0);
  EXPECT_EQ(inverse_error(Problem::named("trtri"), Uplo::upper, matrix(2, {2, 7, 1, 1}),
                          matrix(2, {0.5, 9, -0.5, 1})),
            0);
  EXPECT_EQ(
      inverse_error(Problem::named("poinv"), Uplo::lower, matrix(2, {2, 1, 1, 1}), matrix(2, {1, -1, -1, 2})),
      0);
}

TEST(InverseError, IsOfInversesOnly) {
  for (const char* name : {"geinv", "poinv", "trtri"}) EXPECT_TRUE(is_inverse(Problem::named(name))) << name;
  for (const char* name : {"gesv", "getrf", "potrf", "gemm"})
    EXPECT_FALSE(is_inverse(Problem::named(name))) << name;
}

}  // namespace
}  // namespace gaussweep::driver
