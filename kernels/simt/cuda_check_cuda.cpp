/// Converts errors of the CUDA runtime to exceptions. After a sticky error, all further CUDA calls of the
/// process fail.

#include <string>

#include "kernels/core/errors.hpp"
#include "kernels/simt/cuda_check.hpp"

namespace gaussweep::cuda {

bool is_sticky(cudaError_t error) noexcept {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorDevicesUnavailable:
    case cudaErrorCudartUnloading:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

void throw_cuda_error(cudaError_t error, const char* call, const char* file, int line) {
  cudaGetLastError();  // clears the runtime's last error, unless it is sticky
  const std::string name = cudaGetErrorName(error);
  const std::string message = std::string(call) + ": " + name + " (" + cudaGetErrorString(error) + ") at " +
                              file + ":" + std::to_string(line);
  if (error == cudaErrorMemoryAllocation) throw OutOfMemory(message);
  throw DeviceError(message, name, is_sticky(error));
}

}  // namespace gaussweep::cuda
