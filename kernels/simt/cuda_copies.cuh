#pragma once
/// Copies from global to shared memory that run beside what the thread does next; see simt.hpp. Part of
/// cuda_launch.cuh. copy_pack, copy_pack_by_l1: only in kernels for compute capability 8.0 or more.

#include <cuda_runtime.h>

namespace gaussweep::cuda::simt {

/// Starts to copy 16 bytes, both places multiples of 16, past the L1 cache.
__device__ __forceinline__ void copy_pack(void* shared, const void* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(__cvta_generic_to_global(global))
               : "memory");
#endif
}
/// The same by way of the L1 cache, from which other blocks of the multiprocessor may read it too.
__device__ __forceinline__ void copy_pack_by_l1(void* shared, const void* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(__cvta_generic_to_global(global))
               : "memory");
#endif
}
/// The same of one element, 4 or 8 bytes; a zero where there is none. Before compute capability 8.0 it is
/// there at once.
template <class T>
__device__ __forceinline__ void copy_or_zero(T* shared, const T* global, bool there) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(__cvta_generic_to_global(global)), "n"(sizeof(T)),
               "r"(there ? static_cast<unsigned>(sizeof(T)) : 0u)
               : "memory");
#else
  *shared = there ? *global : T(0);
#endif
}
/// What the thread started since the last call is one group.
__device__ __forceinline__ void end_copy_group() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Waits until all of the thread's groups but the last `Later` have arrived.
template <int Later>
__device__ __forceinline__ void await_copy_groups() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Later) : "memory");
#endif
}

}  // namespace gaussweep::cuda::simt
