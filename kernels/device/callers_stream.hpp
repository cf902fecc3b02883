#pragma once
/// Devices for programs that own their streams.

#include <memory>

#include "kernels/device/device.hpp"

namespace gaussweep {

/// Creates a device for GPU `index` that works on the caller's stream (a cudaStream_t, also the default
/// stream 0) and leaves it open. @throws DeviceError as make_cuda_device
std::unique_ptr<Device> make_cuda_device_on(int index, void* stream);

/// Restores the calling thread's current GPU on destruction, because a Device makes its GPU the current one.
class KeptDevice {
 public:
  KeptDevice();
  ~KeptDevice();
  KeptDevice(const KeptDevice&) = delete;
  KeptDevice& operator=(const KeptDevice&) = delete;

 private:
  int index_ = -1;
};

}  // namespace gaussweep
