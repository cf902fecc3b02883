#pragma once
/// The fixture of tests on the first GPU. It skips the test, with the reason, if there is no GPU or it is too
/// old.

#include "kernels/device/device.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep::testing_help {

class OnGpu : public testing::Test {
 public:
  /// Returns true if sizes must be small, as under compute-sanitizer, which needs seconds per millisecond of
  /// GPU time.
  static bool small() { return std::getenv("GAUSSWEEP_SMALL") != nullptr; }

 protected:
  void SetUp() override { require(/*needed=*/0); }
  /// Skips the test if the GPU's compute capability is below `needed`, 90 for 9.0. Sets `device` and
  /// `context`.
  void require(int needed) {
    std::string why;
    if (cuda_device_count(&why) == 0) GTEST_SKIP() << "no GPU: " << why;
    device = make_cuda_device(0);
    const int capability = device->info().capability;
    if (capability < needed)
      GTEST_SKIP() << "needs compute capability " << needed << ", this GPU has " << capability;
    context.emplace(*device);
  }
  /// Runs a method with its default parameters.
  template <class T>
  Answer<T> run(const Method& method, const Inputs<T>& inputs) {
    return run_method(*context, method, inputs, defaults(method));
  }
  template <class T>
  Answer<T> run(const std::string& id, const Inputs<T>& inputs) {
    return run(row_of(id), inputs);
  }

  std::unique_ptr<Device> device;
  std::optional<Context> context;
};

}  // namespace gaussweep::testing_help
