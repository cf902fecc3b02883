// Tests that cuBLAS and cuSOLVER are loaded on first use and not before, with every function that is called.
#include "kernels/device/device.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

std::string mapped_files() {
  std::ifstream maps("/proc/self/maps");
  return {std::istreambuf_iterator<char>(maps), {}};
}

TEST(VendorLibraries, AreLoadedWithAllTheirFunctionsOnFirstUse) {
  std::string why;
  if (cuda_device_count(&why) == 0 && why == "built without CUDA") GTEST_SKIP() << why;
  // With a GPU another test of this process may have loaded them already.
  if (cuda_device_count() == 0) {
    EXPECT_THAT(mapped_files(), Not(HasSubstr("libcublas")));
  }
  load_vendor_libraries();
  EXPECT_THAT(mapped_files(), AllOf(HasSubstr("/libcublas.so."), HasSubstr("/libcusolver.so.")));
}

}  // namespace
}  // namespace gaussweep
