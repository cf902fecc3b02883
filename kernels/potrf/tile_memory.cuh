#pragma once
/// Functions for memory access in the tiled Cholesky factorisation (tile_chain.cuh).

#include <type_traits>

#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"

/// Keeps a device function from being inlined, so that its registers are allocated separately from the
/// caller's.
#ifdef __CUDACC__
#define GAUSSWEEP_NOINLINE __noinline__
#else
#define GAUSSWEEP_NOINLINE
#endif
/// Keeps the following loop of eight steps rolled in double, where the code of a step is long.
#ifdef __CUDACC__
#define GAUSSWEEP_ROLLED_IN_DOUBLE _Pragma("unroll (sizeof(T) == sizeof(double) ? 1 : 9)")
#else
#define GAUSSWEEP_ROLLED_IN_DOUBLE
#endif

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

using lu::load_two;
/// Stores two elements at an address that is aligned to two elements.
template <class T>
__device__ __forceinline__ void store_two(T* to, T first, T second) {
#ifdef __CUDA_ARCH__
  using Pair = std::conditional_t<sizeof(T) == sizeof(double), double2, float2>;
  *reinterpret_cast<Pair*>(to) = Pair{first, second};
#else
  to[0] = first;
  to[1] = second;
#endif
}

/// Prefetches a cache line to L2.
__device__ __forceinline__ void prefetch([[maybe_unused]] const void* line) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
#endif
}

/// Makes the thread's earlier memory accesses visible to bulk copies (the async proxy) that other threads
/// start after the next barrier.
__device__ __forceinline__ void fence_async_proxy() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
}
/// Starts a bulk copy that adds elements in shared memory to elements in global memory. The L2 cache performs
/// the additions, and await_additions() waits for them. @pre all addresses are multiples of 16, and `count`
/// is even
__device__ __forceinline__ void add_in_cache(double* to, const double* shared, int count) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64 [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "r"(count * static_cast<int>(sizeof(double)))
               : "memory");
#else
  for (int i = 0; i < count; ++i) to[i] += shared[i];
#endif
}
/// Waits until the thread's additions are complete.
__device__ __forceinline__ void await_additions() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

/// Returns the same pointer, and lets the compiler assume that it points to global memory. Otherwise the
/// compiler treats a pointer that was loaded from shared memory as generic.
template <class T>
__device__ __forceinline__ T* global(T* pointer) {
#ifdef __CUDA_ARCH__
  __builtin_assume(__isGlobal(pointer));
#endif
  return pointer;
}

#ifdef __CUDACC__
/// Loads two elements from shared memory in program order. The compiler would move ordinary loads up, and
/// would then spill the accumulators to local memory.
__device__ __forceinline__ void load_in_order(unsigned from, double (&pair)[2]) {
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(pair[0]), "=d"(pair[1]) : "r"(from));
}
/// Copies 16 bytes to shared memory like simt::copy_16_bytes, but only if `wanted`. Has no branch.
__device__ __forceinline__ void copy_16_bytes_if(bool wanted, unsigned shared, const void* global) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "{\n.reg .pred wanted;\nsetp.ne.b32 wanted, %2, 0;\n@wanted cp.async.cg.shared.global [%0], [%1], "
      "16;\n}" ::"r"(shared),
      "l"(__cvta_generic_to_global(global)), "r"(static_cast<int>(wanted))
      : "memory");
#endif
}
#endif

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
