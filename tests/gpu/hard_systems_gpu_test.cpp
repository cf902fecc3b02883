// The search of tests/kernels/hard_systems_test.cpp on a GPU, for every row that solves by inverted blocks.

#include "tests/kernels/hard_systems.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace gaussweep {
namespace {

using namespace testing_help;

template <class T>
class HardOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (cuda_device_count(&why) == 0) GTEST_SKIP() << "no GPU: " << why;
    device = make_cuda_device(0);
    if (device->info().capability < 90) GTEST_SKIP() << "needs compute capability 9.0";
    context.emplace(*device);
  }
  const Registry registry = builtin_registry();
  std::unique_ptr<Device> device;
  std::optional<Context> context;

  void expect_as_good_as_lapack(const char* problem, const char* variant) {
    const Hardest found = HardSystems<T>(*context, registry, problem, variant).search(starts(200), 12);
    EXPECT_LE(found.times, 1) << problem << " n " << found.n << ": ratio " << found.ratio << ", LAPACK's "
                              << found.of_lapack;
  }
};
using Both = testing::Types<float, double>;
TYPED_TEST_SUITE(HardOnGpu, Both);

TYPED_TEST(HardOnGpu, Triangles) {
  this->expect_as_good_as_lapack("trsv", "inverted_blocks");
}
TYPED_TEST(HardOnGpu, Systems) {
  this->expect_as_good_as_lapack("gesv", "recursive");
}
TYPED_TEST(HardOnGpu, ElementsAtTheEndsOfTheRange) {
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
