#pragma once
/// A test on the first GPU; skipped with the reason if there is no GPU or it is too old.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "kernels/device/context.hpp"
#include "kernels/device/device.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::testing_help {

class OnGpu : public testing::Test {
 protected:
  void SetUp() override { require(0); }
  /// @param needed compute capability, 90 for 9.0
  void require(int needed) {
    std::string why;
    if (cuda_device_count(&why) == 0) GTEST_SKIP() << "no GPU: " << why;
    device = make_cuda_device(0);
    const int capability = device->info().capability;
    if (capability < needed)
      GTEST_SKIP() << "needs compute capability " << needed << ", this GPU has " << capability;
    context.emplace(*device);
  }
  /// Returns true under compute-sanitizer, which takes seconds for milliseconds of GPU time.
  static bool small() { return std::getenv("GAUSSWEEP_SMALL") != nullptr; }

  const Registry registry = builtin_registry();
  std::unique_ptr<Device> device;
  std::optional<Context> context;
};

}  // namespace gaussweep::testing_help
