// Tests the workspace that gesv/mixed_gmres and posv/mixed_gmres declare, and their choice between factors in
// float with refinement and a solve in double only.

#include "kernels/gesv/mixed_workspace.hpp"
#include "kernels/posv/mixed_workspace.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

struct MixedCase {
  std::string problem;
  Uplo uplo;
  std::vector<std::int64_t> direct, refined;  ///< orders at which the row solves in double only, or in float
  std::int64_t never,
      always;  ///< an order at which the row never tries float, and one at which it does for any nrhs
  bool (*tries_float_factors)(std::int64_t n, std::int64_t nrhs, std::int64_t float_from);
  std::size_t (*refinement_bytes)(std::int64_t n, std::int64_t nrhs);
};

class MixedRow : public testing::TestWithParam<MixedCase> {
 protected:
  std::size_t workspace(const std::string& variant, std::int64_t n, std::int64_t nrhs,
                        std::int64_t float_from = 0) const {
    const Method& method = row_of(GetParam().problem + "/" + variant);
    Parameters parameters = defaults(method);
    if (float_from != 0) parameters.set("float_from", float_from);
    return method.workspace_bytes({n, n, n, nrhs, GetParam().uplo}, parameters, sizeof(double));
  }
};

INSTANTIATE_TEST_SUITE_P(All, MixedRow,
                         testing::Values(MixedCase{"gesv",
                                                   Uplo::lower,
                                                   {1, 100, 5000},
                                                   {6500, 8192, 16384},
                                                   4096,
                                                   12000,
                                                   mixed::tries_float_factors,
                                                   mixed::refinement_bytes},
                                         MixedCase{"posv",
                                                   Uplo::upper,
                                                   {1, 100, 3000},
                                                   {12001, 16384},
                                                   3000,
                                                   16384,
                                                   definite::tries_float_factors,
                                                   definite::refinement_bytes}),
                         [](const testing::TestParamInfo<MixedCase>& info) { return info.param.problem; });

TEST_P(MixedRow, WithoutFloatTheWorkspaceEqualsRecursives) {
  for (const std::int64_t n : GetParam().direct) {
    for (const std::int64_t nrhs : {1, 8, 32})
      EXPECT_EQ(workspace("mixed_gmres", n, nrhs), workspace("recursive", n, nrhs)) << n;
  }
  EXPECT_EQ(workspace("mixed_gmres", 8192, 1, 8193), workspace("recursive", 8192, 1));
}

TEST_P(MixedRow, WithFloatHasRoomForFactorsInDouble) {
  for (const std::int64_t n : GetParam().refined) {
    const auto square = static_cast<std::size_t>(n * n) * sizeof(double);
    EXPECT_GT(workspace("mixed_gmres", n, 1), square) << n;
    EXPECT_LT(workspace("mixed_gmres", n, 1), 2 * square) << n;
  }
  EXPECT_GT(workspace("mixed_gmres", 100, 1, 100), workspace("recursive", 100, 1));
}

/// The workspace does not grow beyond the number of right-hand sides that are refined together.
TEST_P(MixedRow, HasRoomForSixtyFourRightHandSides) {
  EXPECT_EQ(mixed::max_rhs_per_group, 64);
  EXPECT_LT(GetParam().refinement_bytes(12000, 1), GetParam().refinement_bytes(12000, 64));
  EXPECT_EQ(workspace("mixed_gmres", 12000, 65, 1), GetParam().refinement_bytes(12000, 64));
}

/// If float is worth trying at an order, it is at all larger orders.
TEST_P(MixedRow, TriesFloatFromSomeOrderOn) {
  const auto tries_float_factors = GetParam().tries_float_factors;
  for (const std::int64_t nrhs : {1, 2, 8, 32, 64}) {
    EXPECT_FALSE(tries_float_factors(GetParam().never, nrhs, 0)) << nrhs;
    bool tried = false;
    for (std::int64_t n = 1000; n <= 65536; n += 500) {
      const bool now = tries_float_factors(n, nrhs, 0);
      EXPECT_TRUE(now || !tried) << n << ", " << nrhs;
      tried = now;
    }
    EXPECT_TRUE(tried) << nrhs;
    EXPECT_TRUE(tries_float_factors(GetParam().always, nrhs, 0)) << nrhs;
  }
  for (const std::int64_t nrhs : {1, 500}) {
    EXPECT_TRUE(tries_float_factors(10, nrhs, 10));
    EXPECT_FALSE(tries_float_factors(9, nrhs, 10));
  }
}

TEST(MixedGmresCost, FloatBeginsNearOrder6300) {
  EXPECT_FALSE(mixed::tries_float_factors(5000, 1, 0));
  EXPECT_TRUE(mixed::tries_float_factors(6500, 1, 0));
}

/// Times measured in milliseconds (docs/notebook/mixed_precision.md), with up to 8 right-hand sides on an
/// H100, with more on an H200: the choice is never more than 3 % slower than gesv/recursive, and always float
/// if float is more than 3 % faster.
TEST(MixedGmresCost, AgreesWithMeasuredTimes) {
  struct Measured {
    std::int64_t n, nrhs;
    double refined, direct;
  };
  for (const Measured& m : {Measured{6001, 1, 11.4, 11.1},
                            {6001, 2, 11.7, 11.1},
                            {6001, 8, 12.0, 11.3},
                            {8192, 1, 17.1, 18.4},
                            {8192, 2, 17.1, 18.4},
                            {8192, 8, 17.9, 18.6},
                            {12000, 1, 31.1, 42.1},
                            {12000, 2, 31.3, 42.2},
                            {12000, 8, 32.1, 42.4},
                            {11417, 32, 30.74, 39.21},
                            {11417, 64, 34.34, 40.17},
                            {11417, 100, 45.22, 41.35},
                            {12829, 48, 42.68, 51.16},
                            {12829, 100, 54.57, 53.71},
                            {16196, 16, 52.98, 85.60},
                            {16196, 100, 74.95, 90.04}}) {
    const bool tried = mixed::tries_float_factors(m.n, m.nrhs, 0);
    EXPECT_LE(tried ? m.refined : m.direct, 1.03 * std::min(m.refined, m.direct)) << m.n << ", " << m.nrhs;
  }
}

}  // namespace
}  // namespace gaussweep
