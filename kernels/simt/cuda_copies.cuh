#pragma once
/// Asynchronous copies from global to shared memory (cp.async); see simt.hpp. Part of cuda_launch.cuh.
/// copy_16_bytes and copy_16_bytes_through_l1 exist only in kernels for compute capability 8.0 or more.

#include <cuda_runtime.h>

namespace gaussweep::cuda::simt {

/// Starts to copy 16 bytes, bypassing the L1 cache. @pre both addresses are multiples of 16
__device__ __forceinline__ void copy_16_bytes(void* shared, const void* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(__cvta_generic_to_global(global))
               : "memory");
#endif
}
/// Starts to copy 16 bytes through the L1 cache, for data that other blocks on the multiprocessor also read.
__device__ __forceinline__ void copy_16_bytes_through_l1(void* shared, const void* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(__cvta_generic_to_global(global))
               : "memory");
#endif
}
/// Starts to copy one element of 4 or 8 bytes, or stores a zero if `exists` is false. Before compute
/// capability 8.0 the copy is synchronous.
template <class T>
__device__ __forceinline__ void copy_or_zero(T* shared, const T* global, bool exists) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(__cvta_generic_to_global(global)), "n"(sizeof(T)),
               "r"(exists ? static_cast<unsigned>(sizeof(T)) : 0u)
               : "memory");
#else
  *shared = exists ? *global : T(0);
#endif
}
/// Ends a copy group, which consists of the copies that the thread has started since the last call.
__device__ __forceinline__ void end_copy_group() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Waits until all copy groups of the thread except the `PendingGroups` newest ones are complete.
template <int PendingGroups>
__device__ __forceinline__ void await_copy_groups() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(PendingGroups) : "memory");
#endif
}

}  // namespace gaussweep::cuda::simt
