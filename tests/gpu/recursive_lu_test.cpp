// Tests getrf/recursive at orders where its algorithm changes: narrower panels, exchanges by column,
// triangular updates of both widths. The factors are compared with the vendor's, because a verification on
// the CPU would take minutes.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "kernels/check/check.hpp"
#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/method_cases.hpp"

namespace gaussweep {
namespace {

using namespace testing_help;

class RecursiveLu : public OnGpu {
 protected:
  void SetUp() override { require(row_of(registry, "getrf/recursive").capability); }
};

class RecursiveLuSizes : public RecursiveLu, public testing::WithParamInterface<std::int64_t> {};

TEST_P(RecursiveLuSizes, FactorsEqualTheVendors) {
  if (std::getenv("GAUSSWEEP_SMALL") != nullptr) GTEST_SKIP() << "small sizes only";
  const std::int64_t n = GetParam();
  Context context(*device);
  const Shape shape{n, n, n, 1, Uplo::lower};
  const Inputs<double> inputs = make_inputs<double>(Problem::named("getrf"), shape, MatrixKind::uniform);
  const Method& method = row_of(registry, "getrf/recursive");
  const Answer<double> ours = run_method(context, method, inputs, defaults(method));
  const Method& vendor = row_of(registry, "getrf/cusolver");
  const Answer<double> reference = run_method(context, vendor, inputs, defaults(vendor));
  EXPECT_EQ(ours.info, 0);
  EXPECT_EQ(ours.pivots, reference.pivots);
  EXPECT_LT(difference(Problem::named("getrf"), shape, ours, reference).largest, 1e-9);
}

// 1300: exchanges of more than 512 rows. 1100, 2100 and 4101: columns beyond the last block of 1024. 2300: a
// remainder narrower than its part of the recursion. 4200: two rows per thread. 8200 and 16500: panels of 16
// and 8 columns, and the change to wider ones within a block. 4101, 4200, 8200 and 16500 work in a copy, 8192
// does not.
INSTANTIATE_TEST_SUITE_P(All, RecursiveLuSizes,
                         testing::Values(1100, 1300, 2100, 2300, 4101, 4200, 8192, 8200, 16500));

/// Panels that apply the updates which the previous panel deferred, in their own columns and in later ones.
/// The orders are small enough for compute-sanitizer, with clusters of 2 and 4 blocks.
class RecursiveLuPanels : public RecursiveLu, public testing::WithParamInterface<std::int64_t> {};

TEST_P(RecursiveLuPanels, PanelsWithinABlockEqualLapack) {
  const std::int64_t n = GetParam();
  Context context(*device);
  const Shape shape{n, n, n, 1, Uplo::lower};
  const Inputs<double> inputs = make_inputs<double>(Problem::named("getrf"), shape, MatrixKind::uniform);
  const Method& method = row_of(registry, "getrf/recursive");
  const Answer<double> ours = run_method(context, method, inputs, defaults(method));
  const auto host = cpu(Backend::host);
  Context on_host(*host);
  const Method& lapack = row_of(registry, "getrf/lapack");
  const Answer<double> reference = run_method(on_host, lapack, inputs, defaults(lapack));
  EXPECT_EQ(ours.info, 0);
  EXPECT_EQ(ours.pivots, reference.pivots);
  EXPECT_LT(difference(Problem::named("getrf"), shape, ours, reference).largest, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, RecursiveLuPanels, testing::Values(64, 101, 290));

template <class T>
void factor_odd_orders(Device& device, const Registry& registry, int count) {
  Context context(device);
  const Method& method = row_of(registry, "getrf/recursive");
  std::mt19937 engine(sizeof(T));
  for (int i = 0; i < count; ++i) {
    const std::int64_t n = 2 * static_cast<std::int64_t>(engine() % 600) + 1;
    SCOPED_TRACE(testing::Message() << "n = " << n);
    const Inputs<T> inputs =
        make_inputs<T>(Problem::named("getrf"), {n, n, n, 1, Uplo::lower}, MatrixKind::uniform);
    const Answer<T> ours = run_method(context, method, inputs, defaults(method));
    EXPECT_EQ(ours.info, 0);
    EXPECT_LT(check(method, inputs, ours).ratio, 1);
  }
}

/// A hundred random odd orders, from panels of one block to clusters of 16.
TEST_F(RecursiveLu, OddOrdersAreAccurate) {
  if (std::getenv("GAUSSWEEP_SMALL") != nullptr) GTEST_SKIP() << "small sizes only";
  factor_odd_orders<double>(*device, registry, 50);
  factor_odd_orders<float>(*device, registry, 50);
}

/// Sylvester's Hadamard matrix: its elimination is exact, and its columns are full of ties.
TEST_F(RecursiveLu, BreaksTiesAsLapackDoes) {
  const std::int64_t n = 128;
  Context context(*device);
  const Shape shape{n, n, n, 1, Uplo::lower};
  Inputs<double> inputs = make_inputs<double>(Problem::named("getrf"), shape, MatrixKind::uniform);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) inputs.a(i, j) = __builtin_parityll(i & j) != 0 ? -1 : 1;
  }
  const Method& method = row_of(registry, "getrf/recursive");
  const Answer<double> ours = run_method(context, method, inputs, defaults(method));
  const auto host = cpu(Backend::host);
  Context on_host(*host);
  const Method& lapack = row_of(registry, "getrf/lapack");
  const Answer<double> reference = run_method(on_host, lapack, inputs, defaults(lapack));
  EXPECT_EQ(ours.pivots, reference.pivots);
  EXPECT_EQ(difference(Problem::named("getrf"), shape, ours, reference).largest, 0);
}

}  // namespace
}  // namespace gaussweep
