#pragma once
/// Devices for programs that own their streams.

#include <memory>

#include "kernels/device/device.hpp"

namespace gaussweep {

/// Creates a device for GPU `index` that works on the caller's stream (a cudaStream_t, also the default
/// stream 0) and leaves it open. @throws DeviceError as make_cuda_device
std::unique_ptr<Device> make_cuda_device_on(int index, void* stream);

/// Makes GPU `index` the calling thread's current one, and restores the caller's on destruction. An index
/// below 0 changes nothing.
class CurrentGpu {
 public:
  explicit CurrentGpu(int index);
  ~CurrentGpu();
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;

 private:
  int callers_ = -1;  ///< the GPU to restore; -1: none
};

}  // namespace gaussweep
