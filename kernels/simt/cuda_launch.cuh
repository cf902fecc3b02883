#pragma once
/// The launch layer (simt.hpp) on a GPU: functions that launch kernels, and functions that kernels call. This
/// file needs CUDA 11.8 or later and compute capability 3.5 or later.

#include <cuda_runtime.h>

#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/simt/cuda_check.hpp"
#include "kernels/simt/cuda_cluster.cuh"
#include "kernels/simt/cuda_copies.cuh"
#include "kernels/simt/launch_shape.hpp"

/// Fully unrolls the next loop, whose trip count is a constant, so that arrays stay in registers.
#define GAUSSWEEP_UNROLL _Pragma("unroll")
/// Keeps the compiler from unrolling the next loop.
#define GAUSSWEEP_ROLLED _Pragma("unroll 1")

namespace gaussweep::cuda::simt {

template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  static_assert(alignof(T) <= 16, "dynamic shared memory is aligned to 16 bytes");
  extern __shared__ __align__(16) unsigned char gaussweep_dynamic_shared[];
  return reinterpret_cast<T*>(gaussweep_dynamic_shared);
}

/// Adds to *p and returns the old value.
template <class T>
__device__ __forceinline__ T atomic_add(T* p, std::common_type_t<T> value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
  if constexpr (std::is_same_v<T, double>) {  // no such instruction before Pascal
    auto* const bits = reinterpret_cast<unsigned long long*>(p);
    unsigned long long seen = *bits, expected;
    do {
      expected = seen;
      seen = atomicCAS(
          bits, expected,
          static_cast<unsigned long long>(__double_as_longlong(value + __longlong_as_double(expected))));
    } while (seen != expected);  // compared as bits: NaN is unequal to itself
    return __longlong_as_double(seen);
  } else {
    return atomicAdd(p, value);
  }
#else
  return atomicAdd(p, value);
#endif
}

/// Loads from memory. The value comes neither from a register nor from a stale line of the L1 cache. The load
/// does not order other accesses.
template <class T>
__device__ __forceinline__ T load_volatile(const T* p) {
  return *static_cast<const volatile T*>(p);
}
/// Stores to memory. The compiler cannot delay or remove the store, which does not order other accesses.
template <class T>
__device__ __forceinline__ void store_volatile(T* p, std::common_type_t<T> value) {
  *static_cast<volatile T*>(p) = value;
}
/// Loads with acquire order: later loads see all stores before the matching store_release.
template <class T>
__device__ __forceinline__ T load_acquire(const T* p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  if constexpr (sizeof(T) == 4 && std::is_integral_v<T>) {  // cheaper than a fence
    T value;
    asm volatile("ld.acquire.gpu.global.b32 %0, [%1];"
                 : "=r"(value)
                 : "l"(__cvta_generic_to_global(p))
                 : "memory");
    return value;
  }
#endif
  const T value = load_volatile(p);
  __threadfence();
  return value;
}
/// Stores with release order: this thread's earlier writes are visible on the whole device before this store.
template <class T>
__device__ __forceinline__ void store_release(T* p, std::common_type_t<T> value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  if constexpr (sizeof(T) == 4 && std::is_integral_v<T>) {
    asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(__cvta_generic_to_global(p)), "r"(value)
                 : "memory");
    return;
  }
#endif
  __threadfence();
  store_volatile(p, value);
}
/// Pauses briefly. Every iteration of a loop that waits for another thread must call it.
__device__ __forceinline__ void spin_pause() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  __nanosleep(20);
#endif
}

/// Returns an attribute of the current device. The call is cheap, because the runtime caches attributes.
inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  GAUSSWEEP_CUDA_CHECK(cudaGetDevice(&device));
  GAUSSWEEP_CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}
inline int multiprocessors(const Context&) {
  return device_attribute(cudaDevAttrMultiProcessorCount);
}
/// Returns the maximum shared memory (static and dynamic) of one block.
inline std::size_t max_shared_bytes(const Context&) {
  return static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}
/// Returns true if launch_clusters works and a block can use 227 KiB of shared memory, as on Hopper GPUs.
/// Workstation GPUs of compute capability 12.0 have clusters but less shared memory.
inline bool has_clusters(const Context& context) {
  return device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9 &&
         max_shared_bytes(context) >= std::size_t{227} * 1024;
}

namespace detail {

[[noreturn]] inline void throw_launch_error(cudaError_t error, const dim3& grid, const dim3& block,
                                            std::size_t shared_bytes) {
  const std::string call = "launch of grid " + to_text(grid) + ", block " + to_text(block) + ", " +
                           std::to_string(shared_bytes) + " bytes of dynamic shared memory";
  throw_cuda_error(error, call.c_str(), __FILE__, __LINE__);
}

/// Raises the kernel's limit for dynamic shared memory if needed; by default static and dynamic shared memory
/// together have 48 KiB. Caches the kernel's attributes.
cudaError_t raise_shared_limit(const void* kernel, std::size_t shared_bytes);

/// Returns the kernel's occupancy: resident threads per multiprocessor / maximum.
inline double occupancy(const void* kernel, const dim3& block, std::size_t shared_bytes) {
  const int threads = static_cast<int>(block.x * block.y * block.z);
  int blocks = 0;
  GAUSSWEEP_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes));
  const int resident = blocks * ((threads + 31) / 32 * 32);
  return static_cast<double>(resident) / device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
}

/// Launches a kernel. If Context::stages is set (a run that measures the stages of a method), reports the
/// kernel's occupancy to it.
/// @param blocks_in_cluster blocks per cluster; 0: a launch without clusters
/// @param early true: the kernel may start before earlier work of the stream is complete. Must be true for
/// clusters
template <class... P, class... A>
void start(Context& context, void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes,
           unsigned blocks_in_cluster, bool early, A&&... arguments) {
  static_assert(sizeof...(P) == sizeof...(A), "the kernel takes another number of arguments");
  static_assert((... && !std::is_reference_v<P>), "kernels take their parameters by value");
  check_launch_shape(grid, block);
  const void* const function = reinterpret_cast<const void*>(kernel);
  cudaError_t error = raise_shared_limit(function, shared_bytes);
  if (error == cudaSuccess && blocks_in_cluster > 8) {
    error = cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  }
  if (error != cudaSuccess) throw_launch_error(error, grid, block, shared_bytes);
  if (context.stages != nullptr) context.stages->launched(occupancy(function, block, shared_bytes));

  std::tuple<P...> values(std::forward<A>(arguments)...);
  error = std::apply(
      [&](auto&... value) {
        // One more element than arguments, because an array of length 0 is not allowed.
        void* addresses[sizeof...(P) + 1] = {const_cast<void*>(static_cast<const volatile void*>(&value))...,
                                             nullptr};
        const auto stream = static_cast<cudaStream_t>(context.device.stream());
        if (!early) return cudaLaunchKernel(function, grid, block, addresses, shared_bytes, stream);
        cudaLaunchAttribute attributes[2]{};
        attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[0].val.programmaticStreamSerializationAllowed = 1;
        attributes[1].id = cudaLaunchAttributeClusterDimension;
        attributes[1].val.clusterDim.x = blocks_in_cluster;
        attributes[1].val.clusterDim.y = 1;
        attributes[1].val.clusterDim.z = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = grid;
        config.blockDim = block;
        config.dynamicSmemBytes = shared_bytes;
        config.stream = stream;
        config.attrs = attributes;
        config.numAttrs = blocks_in_cluster > 0 ? 2 : 1;
        return cudaLaunchKernelExC(&config, function, addresses);
      },
      values);
  if (error != cudaSuccess) throw_launch_error(error, grid, block, shared_bytes);
}

}  // namespace detail

/// Launches `kernel` on the device's stream; the arguments are converted to the kernel's parameter types.
/// Asynchronous: the next synchronisation throws the errors of the kernel itself.
/// @throws std::invalid_argument for an impossible grid or block, DeviceError if the launch fails
template <class... P, class... A>
void launch(Context& context, void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes,
            A&&... arguments) {
  detail::start(context, kernel, grid, block, shared_bytes, /*blocks_in_cluster=*/0, /*early=*/false,
                std::forward<A>(arguments)...);
}

/// Like `launch`, but the grid may start before earlier work of the stream is complete (programmatic
/// dependent launch). Every block must call griddepcontrol_wait before it uses results of that work. Before
/// compute capability 9.0 it is an ordinary launch.
template <class... P, class... A>
void launch_early(Context& context, void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes,
                  A&&... arguments) {
  const bool early = device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
  detail::start(context, kernel, grid, block, shared_bytes, /*blocks_in_cluster=*/0, early,
                std::forward<A>(arguments)...);
}

/// Launches a grid of `clusters` thread-block clusters with `blocks` <= 16 blocks each. Blocks of a cluster
/// run concurrently and can access each other's shared memory. The grid may start early, as with
/// launch_early. It needs compute capability 9.0 or more.
template <class... P, class... A>
void launch_clusters(Context& context, void (*kernel)(P...), unsigned blocks, unsigned clusters, dim3 block,
                     std::size_t shared_bytes, A&&... arguments) {
  check_cluster_shape(blocks, block);
  detail::start(context, kernel, dim3(blocks * clusters), block, shared_bytes, blocks, /*early=*/true,
                std::forward<A>(arguments)...);
}

}  // namespace gaussweep::cuda::simt
