// Runs the search of tests/kernels/hard_systems_test.cpp on a GPU for rows with inverted blocks.

#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/hard_systems.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace gaussweep {
namespace {

using namespace testing_help;

template <class T>
class HardOnGpu : public OnGpu {
 protected:
  void SetUp() override { require(90); }

  void expect_as_good_as_lapack(const char* problem, const char* variant) {
    const Hardest found = HardSystems<T>(*context, registry, problem, variant).search(starts(200), 12);
    EXPECT_LE(found.times, 1) << problem << " n " << found.n << ": ratio " << found.ratio << ", LAPACK's "
                              << found.of_lapack;
  }
};
using Both = testing::Types<float, double>;
TYPED_TEST_SUITE(HardOnGpu, Both);

TYPED_TEST(HardOnGpu, TrianglesAreAsAccurateAsLapack) {
  this->expect_as_good_as_lapack("trsv", "inverted_blocks");
}
TYPED_TEST(HardOnGpu, SystemsAreAsAccurateAsLapack) {
  this->expect_as_good_as_lapack("gesv", "recursive");
}
TYPED_TEST(HardOnGpu, ElementsNearTheEndsOfTheRange) {
  for (const auto& [problem, variant] :
       {std::pair("getrf", "recursive"), std::pair("gesv", "recursive"), std::pair("gesv", "mixed_gmres")}) {
    const Method& method = *this->registry.find(Problem::named(problem), variant);
    if (method.cuda.template get<TypeParam>() == nullptr) continue;
    std::string which;
    EXPECT_EQ((range_failures<TypeParam>(*this->context, this->registry, problem, variant, 200, which)), 0)
        << problem << "/" << variant << " " << which;
  }
}

}  // namespace
}  // namespace gaussweep
