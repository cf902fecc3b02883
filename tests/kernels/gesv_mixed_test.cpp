// gesv/mixed_gmres: what its row promises, where no GPU is needed to tell.

#include <gtest/gtest.h>

#include "tests/kernels/method_cases.hpp"

namespace gaussweep {
namespace {

using namespace testing_help;

std::size_t workspace(const std::string& id, std::int64_t n, std::int64_t nrhs, std::int64_t float_from = 0) {
  const Registry registry = builtin_registry();
  const Method& method = row_of(registry, id);
  Parameters parameters = defaults(method);
  if (float_from != 0) parameters.set("float_from", float_from);
  return method.workspace_bytes({n, n, n, nrhs, Uplo::lower}, parameters, sizeof(double));
}

TEST(MixedGmresRow, WhereFloatIsNotTriedItTakesWhatRecursiveTakes) {
  for (const std::int64_t n : {1, 100, 5631}) {
    EXPECT_EQ(workspace("gesv/mixed_gmres", n, 1), workspace("gesv/recursive", n, 1)) << n;
  }
  EXPECT_EQ(workspace("gesv/mixed_gmres", 8192, 9), workspace("gesv/recursive", 8192, 9));
  EXPECT_EQ(workspace("gesv/mixed_gmres", 8192, 1, 8193), workspace("gesv/recursive", 8192, 1));
}

TEST(MixedGmresRow, WhereItIsTriedItHasRoomForFactorsInDouble) {
  for (const std::int64_t n : {5632, 8192, 16384}) {
    const auto square = static_cast<std::size_t>(n * n) * sizeof(double);
    EXPECT_GT(workspace("gesv/mixed_gmres", n, 1), square) << n;
    EXPECT_LT(workspace("gesv/mixed_gmres", n, 1), 2 * square) << n;
  }
  EXPECT_GT(workspace("gesv/mixed_gmres", 100, 1, 100), workspace("gesv/recursive", 100, 1));
}

}  // namespace
}  // namespace gaussweep
