// Tests getrf/recursive at orders at which its algorithm changes: narrower panels, row exchanges column by
// column, triangular updates of both widths. The factors are compared with the vendor's, because a
// verification on the CPU would take minutes.

#include "kernels/check/check.hpp"
#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

class RecursiveLu : public OnGpu {
 protected:
  void SetUp() override { require(row_of("getrf/recursive").capability); }
  template <class T>
  static Inputs<T> uniform(std::int64_t n) {
    return square_inputs<T>("getrf", n, MatrixKind::uniform);
  }
  /// Expects the pivots of another method, and its factors with a difference of at most `tolerance`.
  void expect_factors_of(const Answer<double>& reference, const Inputs<double>& inputs, double tolerance) {
    const Answer<double> ours = run("getrf/recursive", inputs);
    EXPECT_EQ(ours.info, 0);
    EXPECT_EQ(ours.pivots, reference.pivots);
    EXPECT_LE(difference(Problem::named("getrf"), inputs.shape, ours, reference).largest, tolerance);
  }
  static Answer<double> lapack(const Inputs<double>& inputs) {
    CpuContext on_host(Backend::host);
    const Method& method = row_of("getrf/lapack");
    return run_method(on_host, method, inputs, defaults(method));
  }
};

class RecursiveLuSizes : public RecursiveLu, public testing::WithParamInterface<std::int64_t> {};

TEST_P(RecursiveLuSizes, FactorsEqualTheVendors) {
  if (small()) GTEST_SKIP() << "small sizes only";
  const Inputs<double> inputs = uniform<double>(GetParam());
  expect_factors_of(run("getrf/cusolver", inputs), inputs, /*tolerance=*/1e-9);
}

// 1300: exchanges of more than 512 rows. 1100, 2100 and 4101: columns beyond the last block of 1024. 2300: a
// remainder narrower than its part of the recursion. 4200: two rows per thread. 8200 and 16500: panels of 16
// and 8 columns, and the change to wider ones within a block. 4101, 4200, 8200 and 16500 work in a copy, 8192
// does not.
INSTANTIATE_TEST_SUITE_P(All, RecursiveLuSizes,
                         testing::Values(1100, 1300, 2100, 2300, 4101, 4200, 8192, 8200, 16500));

/// Tests panels that apply the updates which the previous panel deferred, to their own columns and to later
/// ones. The orders are small enough for compute-sanitizer, with clusters of 2 and 4 blocks.
class RecursiveLuPanels : public RecursiveLu, public testing::WithParamInterface<std::int64_t> {};

TEST_P(RecursiveLuPanels, PanelsWithinABlockEqualLapack) {
  const Inputs<double> inputs = uniform<double>(GetParam());
  expect_factors_of(lapack(inputs), inputs, /*tolerance=*/1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, RecursiveLuPanels, testing::Values(64, 101, 290));

template <class T>
class RecursiveLuOf : public RecursiveLu {};
TYPED_TEST_SUITE(RecursiveLuOf, Precisions);

/// Random odd orders, from panels of one block to clusters of 16.
TYPED_TEST(RecursiveLuOf, FiftyOddOrdersAreAccurate) {
  if (this->small()) GTEST_SKIP() << "small sizes only";
  std::mt19937 engine(sizeof(TypeParam));
  for (int i = 0; i < 50; ++i) {
    const Inputs<TypeParam> inputs =
        this->template uniform<TypeParam>(2 * static_cast<std::int64_t>(engine() % 600) + 1);
    SCOPED_TRACE(inputs.shape.n);
    const Answer<TypeParam> ours = this->template run<TypeParam>("getrf/recursive", inputs);
    EXPECT_EQ(ours.info, 0);
    EXPECT_LT(check(row_of("getrf/recursive"), inputs, ours).ratio, 1);
  }
}

/// Sylvester's Hadamard matrix: its elimination is exact, and its columns are full of ties.
TEST_F(RecursiveLu, BreaksTiesAsLapackDoes) {
  Inputs<double> inputs = uniform<double>(128);
  fill(inputs.a, [](std::int64_t i, std::int64_t j) { return __builtin_parityll(i & j) != 0 ? -1 : 1; });
  expect_factors_of(lapack(inputs), inputs, /*tolerance=*/0);
}

}  // namespace
}  // namespace gaussweep
