#pragma once
/// Functions for programs that call gaussweep on a GPU stream of their own.

#include <memory>

#include "kernels/device/device.hpp"

namespace gaussweep {

/// Creates a device for GPU `index` that works on the caller's stream (a cudaStream_t, also the default
/// stream 0) and leaves it open. @throws DeviceError as make_cuda_device
std::unique_ptr<Device> make_cuda_device_on(int index, void* stream);

/// Makes GPU `index` the calling thread's current GPU, and restores the previous one on destruction. An index
/// below 0 changes nothing.
class CurrentGpuScope {
 public:
  explicit CurrentGpuScope(int index);
  ~CurrentGpuScope();
  CurrentGpuScope(const CurrentGpuScope&) = delete;
  CurrentGpuScope& operator=(const CurrentGpuScope&) = delete;

 private:
  int previous_ = -1;  ///< the GPU to restore; -1: none
};

}  // namespace gaussweep
