#pragma once
/// The macro that checks CUDA runtime calls.

#include <cuda_runtime.h>

namespace gaussweep::cuda {

/// Throws OutOfMemory for cudaErrorMemoryAllocation, and DeviceError for other errors. The message contains
/// the call, the error's name and text, and the source line. Clears the runtime's last error, so that no
/// later check reports it again.
[[noreturn]] void throw_cuda_error(cudaError_t error, const char* call, const char* file, int line);

/// Returns true if the error makes the GPU unusable for this process. Only a new process can then use the
/// GPU.
bool is_sticky(cudaError_t error) noexcept;

}  // namespace gaussweep::cuda

/// Calls a CUDA runtime function and throws if it failed.
#define GAUSSWEEP_CUDA_CHECK(call)                                                     \
  do {                                                                                 \
    const cudaError_t gaussweep_error = (call);                                        \
    if (gaussweep_error != cudaSuccess) {                                              \
      ::gaussweep::cuda::throw_cuda_error(gaussweep_error, #call, __FILE__, __LINE__); \
    }                                                                                  \
  } while (false)
