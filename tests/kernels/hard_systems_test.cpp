// Tests inverted blocks against LAPACK on hard small systems and at the ends of the exponent range.

#include "tests/kernels/hard_systems.hpp"

#include <gtest/gtest.h>

namespace gaussweep {
namespace {

using namespace testing_help;

template <class T>
class HardForMethods : public testing::Test {
 protected:
  const Registry registry = builtin_registry();
  const std::unique_ptr<Device> device = cpu(Backend::emulated);
  Context context{*device};

  void expect_as_good_as_lapack(const char* problem, const char* variant, int usual, int steps) {
    const Hardest found = HardSystems<T>(context, registry, problem, variant).search(starts(usual), steps);
    EXPECT_LE(found.times, 1) << problem << " n " << found.n << ": ratio " << found.ratio << ", LAPACK's "
                              << found.of_lapack;
  }
};
using Both = testing::Types<float, double>;
TYPED_TEST_SUITE(HardForMethods, Both);

TYPED_TEST(HardForMethods, TrianglesAreAsAccurateAsLapack) {
  this->expect_as_good_as_lapack("trsv", "inverted_blocks", 60, 60);
}
TYPED_TEST(HardForMethods, SystemsAreAsAccurateAsLapack) {
  this->expect_as_good_as_lapack("gesv", "recursive", 10, 12);
}

/// x2 = (b2 - a1 x1) / a2 where the difference cancels; a product with the inverse loses the cancellation.
TYPED_TEST(HardForMethods, TriangleWithCancellationIsAccurate) {
  Inputs<TypeParam> inputs;
  inputs.shape = {3, 3, 3, 1, Uplo::lower};
  inputs.a = HostMatrix<TypeParam>(3, 3);
  const TypeParam elements[3][3] = {
      {1, 0, 0}, {TypeParam(29.3), 1, 0}, {TypeParam(0.37), TypeParam(31.7), 1}};
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) inputs.a(i, j) = elements[i][j];
  }
  inputs.b = HostMatrix<TypeParam>(3, 1);
  const TypeParam right[] = {TypeParam(0.7), TypeParam(29.3 * 0.7), TypeParam(0.1)};
  std::copy(right, right + 3, inputs.b.data.begin());
  const Method& method = *this->registry.find(Problem::named("trsv"), "inverted_blocks");
  EXPECT_LE(ratio_of(this->context, method, inputs), 1);
}

TYPED_TEST(HardForMethods, ElementsNearTheEndsOfTheRange) {
  for (const char* problem : {"getrf", "gesv"}) {
    std::string which;
    EXPECT_EQ(
        (range_failures<TypeParam>(this->context, this->registry, problem, "recursive", starts(40), which)),
        0)
        << problem << " " << which;
  }
}

}  // namespace
}  // namespace gaussweep
