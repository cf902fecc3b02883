// gesv/mixed_gmres: what its row promises, where no GPU is needed to tell.

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/gesv/mixed_workspace.hpp"
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
  for (const std::int64_t n : {1, 100, 5000}) {
    for (const std::int64_t nrhs : {1, 8, 32}) {
      EXPECT_EQ(workspace("gesv/mixed_gmres", n, nrhs), workspace("gesv/recursive", n, nrhs)) << n;
    }
  }
  EXPECT_EQ(workspace("gesv/mixed_gmres", 8192, 1, 8193), workspace("gesv/recursive", 8192, 1));
}

TEST(MixedGmresRow, WhereItIsTriedItHasRoomForFactorsInDouble) {
  for (const std::int64_t n : {6500, 8192, 16384}) {
    const auto square = static_cast<std::size_t>(n * n) * sizeof(double);
    EXPECT_GT(workspace("gesv/mixed_gmres", n, 1), square) << n;
    EXPECT_LT(workspace("gesv/mixed_gmres", n, 1), 2 * square) << n;
  }
  EXPECT_GT(workspace("gesv/mixed_gmres", 100, 1, 100), workspace("gesv/recursive", 100, 1));
}

/// More right-hand sides than are refined at once take no more room.
TEST(MixedGmresRow, RoomIsForSixtyFourRightHandSides) {
  const auto more_than_direct = [](std::int64_t nrhs) { return mixed::refinement_bytes(12000, nrhs); };
  EXPECT_LT(more_than_direct(1), more_than_direct(64));
  EXPECT_EQ(workspace("gesv/mixed_gmres", 12000, 65, 1),
            mixed::refinement_bytes(12000, mixed::max_rhs_per_group));
}

/// Where float begins: with one right-hand side near 6300, with several later; and for no larger matrix is it
/// given up again.
TEST(MixedGmresCost, DecidesByOrderAndRightHandSides) {
  EXPECT_FALSE(mixed::worth_trying(5000, 1, 0));
  EXPECT_TRUE(mixed::worth_trying(6500, 1, 0));
  for (const std::int64_t nrhs : {1, 2, 8, 32, 64}) {
    EXPECT_FALSE(mixed::worth_trying(4096, nrhs, 0)) << nrhs;
    bool tried = false;
    for (std::int64_t n = 1000; n <= 65536; n += 500) {
      const bool now = mixed::worth_trying(n, nrhs, 0);
      EXPECT_TRUE(now || !tried) << n << ", " << nrhs;
      tried = now;
    }
    EXPECT_TRUE(tried);
    EXPECT_TRUE(mixed::worth_trying(12000, nrhs, 0)) << nrhs;
  }
  EXPECT_TRUE(mixed::worth_trying(10, 500, 10));
  EXPECT_FALSE(mixed::worth_trying(9, 1, 10));
}

/// As measured on an H100 (milliseconds, docs/notebook/mixed_precision.md): the choice is never more than 3 %
/// slower than gesv/recursive, and takes what is more than 3 % faster.
TEST(MixedGmresCost, AgreesWithWhatWasMeasured) {
  struct Measured {
    std::int64_t n, nrhs;
    double refined, direct;
  };
  for (const Measured& m : {Measured{6001, 1, 11.4, 11.1},
                            {6001, 2, 11.7, 11.1},
                            {6001, 8, 12.0, 11.3},
                            {6001, 32, 14.8, 12.5},
                            {6001, 64, 15.5, 14.1},
                            {8192, 1, 17.1, 18.4},
                            {8192, 2, 17.1, 18.4},
                            {8192, 8, 17.9, 18.6},
                            {8192, 32, 20.8, 20.4},
                            {8192, 64, 21.3, 22.5},
                            {12000, 1, 31.1, 42.1},
                            {12000, 2, 31.3, 42.2},
                            {12000, 8, 32.1, 42.4},
                            {12000, 32, 35.9, 45.2},
                            {12000, 64, 38.9, 48.9},
                            {24000, 32, 128.4, 243.9}}) {
    const bool tried = mixed::worth_trying(m.n, m.nrhs, 0);
    EXPECT_LE(tried ? m.refined : m.direct, 1.03 * std::min(m.refined, m.direct)) << m.n << ", " << m.nrhs;
  }
}

}  // namespace
}  // namespace gaussweep
