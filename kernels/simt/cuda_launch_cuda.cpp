/// Sets the shared memory limit of kernels, for cuda_launch.cuh, and caches their attributes.

#include <cuda_runtime.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

namespace gaussweep::cuda::simt::detail {

namespace {

/// A kernel's shared memory per block, in bytes.
struct SharedMemory {
  std::size_t fixed;    ///< static shared memory
  std::size_t dynamic;  ///< the current limit of dynamic shared memory
};

}  // namespace

cudaError_t raise_shared_limit(const void* kernel, std::size_t shared_bytes) {
  if (shared_bytes == 0) return cudaSuccess;
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  static std::mutex mutex;
  static std::map<std::pair<int, const void*>, SharedMemory> cache;
  const std::lock_guard<std::mutex> lock(mutex);
  auto found = cache.find({device, kernel});
  if (found == cache.end()) {
    cudaFuncAttributes attributes{};
    error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess) return error;
    const SharedMemory memory{attributes.sharedSizeBytes,
                              static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes)};
    found = cache.emplace(std::pair{device, kernel}, memory).first;
  }
  SharedMemory& memory = found->second;
  if (memory.fixed + shared_bytes <= 48 * 1024 || shared_bytes <= memory.dynamic) return cudaSuccess;
  error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes));
  if (error == cudaSuccess) memory.dynamic = shared_bytes;
  return error;
}

}  // namespace gaussweep::cuda::simt::detail
