#pragma once
/// Helpers of the launch layer's tests. They are portable: compiled as C++ they run on the emulated backend,
/// compiled by nvcc on GPU 0.

#include "kernels/device/context.hpp"
#include "kernels/device/device.hpp"
#include "kernels/simt/simt.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

inline std::unique_ptr<Device> test_device() {
#ifdef __CUDACC__
  return make_cuda_device(0);
#else
  return make_host_device(Backend::emulated, nullptr, "test");
#endif
}

/// An array on the device with copies from and to the host.
template <class T>
class DeviceArray {
 public:
  DeviceArray(Device& device, const std::vector<T>& values)
      : device_(device), count_(values.size()), buffer_(device, values.size() * sizeof(T)) {
    device_.to_device(buffer_.data(), values.data(), count_ * sizeof(T));
  }
  DeviceArray(Device& device, std::size_t count) : DeviceArray(device, std::vector<T>(count)) {}
  T* data() const { return static_cast<T*>(buffer_.data()); }
  std::vector<T> values() const {
    std::vector<T> result(count_);
    device_.to_host(result.data(), buffer_.data(), count_ * sizeof(T));
    return result;
  }

 private:
  Device& device_;
  std::size_t count_;
  Buffer buffer_;
};

/// Seeds of the tested thread orders: 0 is ascending, the others are shuffled.
inline constexpr std::uint64_t shuffle_seeds[] = {0, 1, 2, 3, 4, 5};

/// A test of kernels whose parameter is one of these seeds.
class ShuffledTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  ShuffledTest() : device(test_device()), context(*device) { context.emulation.shuffle_seed = GetParam(); }
  std::unique_ptr<Device> device;
  Context context;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND
