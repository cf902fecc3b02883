// Runs the search for hard systems of tests/kernels/hard_systems_test.cpp on a GPU, for methods that multiply
// by inverses of diagonal blocks.

#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/hard_systems.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

template <class T>
class HardOnGpu : public OnGpu {
 protected:
  void SetUp() override { this->require(/*needed=*/90); }
};
TYPED_TEST_SUITE(HardOnGpu, Precisions);

TYPED_TEST(HardOnGpu, TrianglesAreAsAccurateAsLapack) {
  expect_as_good_as_lapack<TypeParam>(*this->context, "trsv", "inverted_blocks", starts(200), /*steps=*/12);
}
TYPED_TEST(HardOnGpu, SystemsAreAsAccurateAsLapack) {
  expect_as_good_as_lapack<TypeParam>(*this->context, "gesv", "recursive", starts(200), /*steps=*/12);
}
TYPED_TEST(HardOnGpu, ElementsNearTheEndsOfTheRangeAreHandled) {
  for (const auto& [problem, variant] :
       {std::pair("getrf", "recursive"), std::pair("gesv", "recursive"), std::pair("gesv", "mixed_gmres")}) {
    const Method& method = *registry().find(Problem::named(problem), variant);
    if (method.cuda.template get<TypeParam>() == nullptr) continue;
    std::string failed_systems;
    EXPECT_EQ((range_failures<TypeParam>(*this->context, problem, variant, /*count=*/200, failed_systems)), 0)
        << problem << "/" << variant << " " << failed_systems;
  }
}

}  // namespace
}  // namespace gaussweep
