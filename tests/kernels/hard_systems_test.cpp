// Tests inverted blocks against LAPACK on hard small systems and at the ends of the exponent range.

#include "tests/kernels/hard_systems.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

PRECISION_TEST_SUITE(HardForMethods);

TYPED_TEST(HardForMethods, TrianglesAreAsAccurateAsLapack) {
  CpuContext context;
  expect_as_good_as_lapack<TypeParam>(context, "trsv", "inverted_blocks", starts(60), 60);
}
TYPED_TEST(HardForMethods, SystemsAreAsAccurateAsLapack) {
  CpuContext context;
  expect_as_good_as_lapack<TypeParam>(context, "gesv", "recursive", starts(10), 12);
}

/// In x2 = (b2 - a21 x1) / a22 the difference cancels. A product with the inverse computes it less
/// accurately.
TYPED_TEST(HardForMethods, TriangleWithCancellationIsAccurate) {
  Inputs<TypeParam> inputs = inputs_of<TypeParam>({3, 3, 3, 1, Uplo::lower}, HostMatrix<TypeParam>(3, 3));
  const TypeParam elements[3][3] = {
      {1, 0, 0}, {TypeParam(29.3), 1, 0}, {TypeParam(0.37), TypeParam(31.7), 1}};
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) inputs.a(i, j) = elements[i][j];
  }
  inputs.b = HostMatrix<TypeParam>(3, 1);
  const TypeParam right[] = {TypeParam(0.7), TypeParam(29.3 * 0.7), TypeParam(0.1)};
  std::copy(right, right + 3, inputs.b.data.begin());
  const Method& method = row_of("trsv/inverted_blocks");
  CpuContext context;
  EXPECT_LE(ratio_of(context, method, inputs), 1);
}

TYPED_TEST(HardForMethods, ElementsNearTheEndsOfTheRange) {
  CpuContext context;
  for (const char* problem : {"getrf", "gesv"}) {
    std::string which;
    EXPECT_EQ((range_failures<TypeParam>(context, problem, "recursive", starts(40), which)), 0)
        << problem << " " << which;
  }
}

}  // namespace
}  // namespace gaussweep
