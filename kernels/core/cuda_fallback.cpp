/// What a build without CUDA says of GPUs. With CUDA: kernels/simt/cuda_device_cuda.cpp.

#ifndef GAUSSWEEP_HAS_CUDA

#include "kernels/core/device.hpp"
#include "kernels/core/errors.hpp"

namespace gaussweep {

std::unique_ptr<Device> make_cuda_device(int) {
  throw DeviceError("this build of gaussweep has no CUDA: the backends are emulated and host", "noCuda",
                    false);
}

int cuda_device_count(std::string* why) {
  if (why != nullptr) *why = "built without CUDA";
  return 0;
}

}  // namespace gaussweep

#endif
