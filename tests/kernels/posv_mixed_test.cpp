// posv/mixed_gmres: what its row promises, where no GPU is needed to tell.

#include <gtest/gtest.h>

#include "kernels/posv/mixed_workspace.hpp"
#include "tests/kernels/method_cases.hpp"

namespace gaussweep {
namespace {

using namespace testing_help;

std::size_t workspace_of_posv(const std::string& variant, std::int64_t n, std::int64_t nrhs,
                              std::int64_t float_from = 0) {
  const Registry registry = builtin_registry();
  const Method& method = row_of(registry, "posv/" + variant);
  Parameters parameters = defaults(method);
  if (float_from != 0) parameters.set("float_from", float_from);
  return method.workspace_bytes({n, n, n, nrhs, Uplo::upper}, parameters, sizeof(double));
}

TEST(MixedDefiniteRow, TakesWhatRecursiveTakesWhereFloatIsNotTried) {
  for (const std::int64_t n : {1, 100, 3000}) {
    for (const std::int64_t nrhs : {1, 8, 32}) {
      EXPECT_EQ(workspace_of_posv("mixed_gmres", n, nrhs), workspace_of_posv("recursive", n, nrhs)) << n;
    }
  }
  EXPECT_EQ(workspace_of_posv("mixed_gmres", 8192, 1, 8193), workspace_of_posv("recursive", 8192, 1));
}

/// That for more right-hand sides than are refined at once is that for as many.
TEST(MixedDefiniteRow, HasRoomForAFactorInDoubleAndSixtyFourRightHandSides) {
  for (const std::int64_t n : {12001, 16384}) {
    const auto square = static_cast<std::size_t>(n * n) * sizeof(double);
    EXPECT_GT(workspace_of_posv("mixed_gmres", n, 1), square) << n;
    EXPECT_LT(workspace_of_posv("mixed_gmres", n, 1), 2 * square) << n;
  }
  EXPECT_LT(definite::refinement_bytes(12000, 1), definite::refinement_bytes(12000, 64));
  EXPECT_EQ(workspace_of_posv("mixed_gmres", 12000, 65, 1), definite::refinement_bytes(12000, 64));
}

/// From an order on, for no larger matrix is float given up again.
TEST(MixedDefiniteCost, DecidesByOrderAndRightHandSides) {
  for (const std::int64_t nrhs : {1, 2, 8, 32, 64}) {
    EXPECT_FALSE(definite::worth_trying(3000, nrhs, 0)) << nrhs;
    bool tried = false;
    for (std::int64_t n = 1000; n <= 65536; n += 500) {
      const bool now = definite::worth_trying(n, nrhs, 0);
      EXPECT_TRUE(now || !tried) << n << ", " << nrhs;
      tried = now;
    }
    EXPECT_TRUE(tried) << nrhs;
  }
  EXPECT_TRUE(definite::worth_trying(16384, 1, 0));
  EXPECT_TRUE(definite::worth_trying(100, 1, 100));
  EXPECT_FALSE(definite::worth_trying(99, 1, 100));
}

}  // namespace
}  // namespace gaussweep
