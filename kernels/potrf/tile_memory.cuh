#pragma once
/// How the Cholesky factorisation by tiles meets memory.

#include <type_traits>

#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"

/// Before a device function that is to have registers of its own.
#ifdef __CUDACC__
#define GAUSSWEEP_NOINLINE __noinline__
#else
#define GAUSSWEEP_NOINLINE
#endif
/// Before a loop over a tile's eight columns of tiles of 8: one piece of code in double, whose code is long.
#ifdef __CUDACC__
#define GAUSSWEEP_ROLLED_IN_DOUBLE _Pragma("unroll (sizeof(T) == sizeof(double) ? 1 : 9)")
#else
#define GAUSSWEEP_ROLLED_IN_DOUBLE
#endif

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

using lu::load_two;
/// To an even index of what is aligned to two elements.
template <class T>
__device__ __forceinline__ void store_two(T* to, T first, T second) {
#ifdef __CUDA_ARCH__
  using Two = std::conditional_t<sizeof(T) == sizeof(double), double2, float2>;
  *reinterpret_cast<Two*>(to) = Two{first, second};
#else
  to[0] = first;
  to[1] = second;
#endif
}

/// Brings a line to the L2 cache.
__device__ __forceinline__ void prefetch([[maybe_unused]] const void* line) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
#endif
}

/// What the thread has stored or seen is seen by the copy engine, after a barrier.
__device__ __forceinline__ void show_to_copy_engine() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
}
/// Has the copy engine add elements in shared memory to global memory, in the L2 cache. What follows does not
/// wait for it: see await_additions. All addresses are multiples of 16, `count` is even.
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
/// Until what the thread has had added is there.
__device__ __forceinline__ void await_additions() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

/// The same place, of which the compiler is told that it is in global memory. A pointer that was kept in
/// shared memory is generic to it.
template <class T>
__device__ __forceinline__ T* global(T* place) {
#ifdef __CUDA_ARCH__
  __builtin_assume(__isGlobal(place));
#endif
  return place;
}

#ifdef __CUDACC__
/// Two elements at an address in shared memory, in the order of the program: loads that the compiler moves
/// ahead take registers that sums need.
__device__ __forceinline__ void load_in_order(unsigned from, double (&pair)[2]) {
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(pair[0]), "=d"(pair[1]) : "r"(from));
}
/// simt::copy_pack if `wanted`, without a branch, to an address in shared memory.
__device__ __forceinline__ void copy_pack_if(bool wanted, unsigned shared, const void* global) {
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
