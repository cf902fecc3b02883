/// Tests the recursion of an LU factorisation in a copy, kernels/getrf/recursive_lu.cuh.

#include "kernels/getrf/recursive_lu.cuh"
#include "tests/kernels/simt_testing.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

class RecursiveLuCopy : public ShuffledTest {};
// Seeds of the order in which threads run in the emulation: 0 is ascending, the others are shuffled.
INSTANTIATE_TEST_SUITE_P(Orders, RecursiveLuCopy, ::testing::Values(0, 1));

struct WholeFactors {
  std::vector<double> a;
  std::vector<int> pivots;
};

/// Factors an n x n matrix with leading dimension lda. The workspace is filled with NaN before.
WholeFactors factor_whole(Context& context, const std::vector<double>& a, int n, int lda, bool copied) {
  const auto copy = static_cast<std::size_t>(lu::leading_dimension(n) * n);
  const std::size_t elements = lu::workspace_bytes(n, sizeof(double)) / sizeof(double) + copy + 32;
  DeviceArray<double> device_a(context.device, a), memory(context.device, std::vector<double>(elements, NAN));
  DeviceArray<int> pivots(context.device, static_cast<std::size_t>(n)), info(context.device, 1);
  Workspace workspace(memory.data(), elements * sizeof(double));
  lu::RecursiveLu<double>(context, device_a.data(), lda, n, pivots.data(), info.data(), workspace, copied)
      .factor();
  EXPECT_EQ(info.values()[0], 0);
  return {device_a.values(), pivots.values()};
}

TEST_P(RecursiveLuCopy, FactorsTheMatrixAndLeavesThePadding) {
  for (const int n : {1, 33, 101}) {  // orders beyond 1024, where products begin, take a minute each
    const int lda = n + 3;
    std::mt19937 engine(static_cast<unsigned>(n));
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> a(static_cast<std::size_t>(lda * n));
    for (double& value : a) value = uniform(engine);
    const WholeFactors wanted = factor_whole(context, a, n, lda, false);
    const WholeFactors seen = factor_whole(context, a, n, lda, true);
    ASSERT_EQ(seen.pivots, wanted.pivots) << "n = " << n;
    for (int c = 0; c < n; ++c) {
      for (int r = 0; r < lda; ++r) {
        const std::size_t i = static_cast<std::size_t>(r + c * lda);
        if (r < n) {
          ASSERT_NEAR(seen.a[i], wanted.a[i], 1e-10) << "n = " << n << ", row " << r << ", column " << c;
        } else {
          ASSERT_EQ(seen.a[i], a[i]) << "n = " << n << ", row " << r << ", column " << c;
        }
      }
    }
  }
}

TEST(RecursiveLuCopies, AreMadeForDoublesIfTheOrderIsNoMultipleOf16) {
  EXPECT_TRUE(lu::is_copied(4097, sizeof(double)));
  EXPECT_TRUE(lu::is_copied(10008, sizeof(double)));
  EXPECT_FALSE(lu::is_copied(4095, sizeof(double)));
  EXPECT_FALSE(lu::is_copied(10000, sizeof(double)));
  EXPECT_FALSE(lu::is_copied(4097, sizeof(float)));
  EXPECT_GE(lu::workspace_bytes(4097, sizeof(double)),
            lu::workspace_bytes(4095, sizeof(double)) + 4128 * 4097 * sizeof(double));
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
