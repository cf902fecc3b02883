#pragma once
/// Hopper's tensor copies and 8-bit tensor-core products (TMA and wgmma in PTX); see simt.hpp. They exist
/// only in builds with code for sm_90a, which define GAUSSWEEP_SM90A, and run only on GPUs of compute
/// capability 9.0. Kernels that use them have their bodies in #if GAUSSWEEP_WGMMA.

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/simt/cuda_launch.cuh"
#include "kernels/simt/tensor_maps.hpp"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define GAUSSWEEP_WGMMA 1
#else
#define GAUSSWEEP_WGMMA 0
#endif

namespace gaussweep::cuda::simt {

/// Returns true if the GPU has the instructions of this file.
inline bool has_wgmma(const Context&) {
  return device_attribute(cudaDevAttrComputeCapabilityMajor) == 9 &&
         device_attribute(cudaDevAttrComputeCapabilityMinor) == 0;
}

#if GAUSSWEEP_WGMMA

/// Starts to copy a box to shared memory in each block of the cluster whose bit is set in `blocks`. A box has
/// 128 bytes of each of several lines (tensor_maps.hpp). In each receiving block, the bytes count as
/// transactions at the mbarrier `barrier`.
/// @param first the box's first byte within a line
/// @param line the box's first line
/// @param matrix the index of the matrix
__device__ __forceinline__ void copy_box(unsigned shared, const CUtensorMap& map, unsigned barrier, int first,
                                         int line, int matrix, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared),
      "l"(&map), "r"(barrier), "r"(first), "r"(line), "r"(matrix), "h"(blocks)
      : "memory");
}
/// Starts to store a box from shared memory. end_box_stores ends a group of such stores.
__device__ __forceinline__ void store_box(const CUtensorMap& map, unsigned shared, int first, int line,
                                          int matrix) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
               "r"(shared), "r"(first), "r"(line), "r"(matrix)
               : "memory");
}
__device__ __forceinline__ void end_box_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until the thread's stores have read shared memory.
__device__ __forceinline__ void await_box_reads() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
/// Waits until the thread's stores are complete.
__device__ __forceinline__ void await_box_stores() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
/// Makes the thread's writes to shared memory visible to tensor copies.
__device__ __forceinline__ void fence_shared_for_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// A barrier for the 128 threads of a warpgroup. @pre 1 <= name <= 15
__device__ __forceinline__ void warpgroup_barrier(int name) {
  asm volatile("bar.sync %0, 128;" ::"r"(name) : "memory");
}
/// Arrives at an mbarrier of another block, whose address is from map_shared_rank. The arrival does not order
/// writes, because a release for the whole cluster would wait for all copies in flight.
__device__ __forceinline__ void mbarrier_arrive_remote(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Returns wgmma's descriptor of an operand in shared memory: lines of 128 bytes as copy_box stores them.
__device__ __forceinline__ std::uint64_t byte_operand(unsigned address) {
  // The descriptor's fields (PTX ISA, wgmma): start address / 16; leading offset, unused with a swizzle;
  // bytes / 16 from eight lines to the next eight; swizzle mode.
  constexpr std::uint64_t swizzled_128 = std::uint64_t{1} << 62, eight_lines = std::uint64_t{1024 >> 4} << 32;
  return (address & 0x3ffff) >> 4 | std::uint64_t{1} << 16 | eight_lines | swizzled_128;
}
/// Starts to compute D = L R^T, or D += L R^T if `adds` is true. L has 64 lines and R has 256 lines; the
/// first 32 bytes of each line are multiplied. All warps of a warpgroup call it together, between
/// fence_products and commit_products. Lane q of warp w has in d[4 j + 2 h + e] the element of row 16 w + 8 h
/// + q / 4 and column 8 j + 2 (q % 4) + e.
__device__ __forceinline__ void byte_product(int (&d)[128], std::uint64_t l, std::uint64_t r, bool adds) {
#define GAUSSWEEP_4(i) "+r"(d[i]), "+r"(d[(i) + 1]), "+r"(d[(i) + 2]), "+r"(d[(i) + 3])
#define GAUSSWEEP_32(i)                                                                                     \
  GAUSSWEEP_4(i), GAUSSWEEP_4((i) + 4), GAUSSWEEP_4((i) + 8), GAUSSWEEP_4((i) + 12), GAUSSWEEP_4((i) + 16), \
      GAUSSWEEP_4((i) + 20), GAUSSWEEP_4((i) + 24), GAUSSWEEP_4((i) + 28)
  asm volatile(
      "{.reg .pred adds; setp.ne.b32 adds, %130, 0; wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, adds;}"
      : GAUSSWEEP_32(0), GAUSSWEEP_32(32), GAUSSWEEP_32(64), GAUSSWEEP_32(96)
      : "l"(l), "l"(r), "r"(static_cast<int>(adds)));
#undef GAUSSWEEP_32
#undef GAUSSWEEP_4
}
/// Orders accesses to the accumulators before the products that follow.
__device__ __forceinline__ void fence_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Ends a group of products, which await_products counts.
__device__ __forceinline__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until all committed products except the `PendingGroups` newest groups are complete.
template <int PendingGroups>
__device__ __forceinline__ void await_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PendingGroups) : "memory");
}

#endif

}  // namespace gaussweep::cuda::simt
