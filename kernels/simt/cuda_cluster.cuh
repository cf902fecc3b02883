#pragma once
/// Thread-block clusters on GPUs of compute capability 9.0 and later; see simt.hpp. Part of cuda_launch.cuh.

#include <cuda_runtime.h>

#include <cstdint>

/// True in device code that may use clusters. The body of such a kernel is inside #if GAUSSWEEP_CLUSTERS.
#define GAUSSWEEP_CLUSTERS (__CUDA_ARCH__ >= 900)
/// True if warpgroups can reallocate registers: setmaxnreg_dec, setmaxnreg_inc.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_FEAT_SM100_ALL) || \
    defined(__CUDA_ARCH_FEAT_SM103_ALL)
#define GAUSSWEEP_SETMAXNREG 1
#else
#define GAUSSWEEP_SETMAXNREG 0
#endif

namespace gaussweep::cuda::simt {

/// Allows the next launch, which must use launch_early, to start when all blocks of this launch have called
/// this function or ended.
__device__ __forceinline__ void griddepcontrol_launch_dependents() {
#if GAUSSWEEP_CLUSTERS
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// Waits until the earlier launches are complete and their stores are visible. Before compute capability 9.0
/// there is nothing to wait for, because a launch starts only after the earlier launches are complete.
__device__ __forceinline__ void griddepcontrol_wait() {
#if GAUSSWEEP_CLUSTERS
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#if GAUSSWEEP_CLUSTERS

/// Return the block's rank in its cluster, and the number of blocks of the cluster.
__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ unsigned cluster_blocks() {
  unsigned count;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
  return count;
}
/// Arrive at the cluster's barrier, and wait at it. Writes before cluster_arrive are visible after
/// cluster_wait.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Returns an address in shared memory as an integer. With a pointer, the compiler would recompute the
/// address from the block's rank at each use.
__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
/// Returns the address of the same variable in the shared memory of block `rank`.
__device__ __forceinline__ unsigned map_shared_rank(unsigned address, unsigned rank) {
  unsigned mapped;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}

/// Initializes a barrier in shared memory (8 bytes) for `threads` arrivals per phase.
__device__ __forceinline__ void mbarrier_init(unsigned barrier, unsigned threads = 1) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(threads) : "memory");
}
/// Makes initialized barriers visible to the other blocks of the cluster. A cluster barrier must follow.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// Arrives at the barrier. The phase is then complete only after `bytes` more bytes of transactions (st_async
/// or tensor copies) have also arrived.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void mbarrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Arrives at the barrier when all asynchronous copies of the thread (cuda_copies.cuh) are complete.
__device__ __forceinline__ void cp_async_mbarrier_arrive(unsigned barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}
/// Waits until the barrier's phase of this parity is complete. Traps after 2^24 tries, so that a wait for a
/// block that has ended does not hang. Each try sleeps in hardware, and normal waits take microseconds.
__device__ __forceinline__ void mbarrier_wait(unsigned barrier, unsigned parity) {
#pragma unroll 1
  for (int tries = 0; tries < 1 << 24; ++tries) {
    unsigned done;
    asm volatile(
        "{\n"
        ".reg .pred over;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
        "selp.u32 %0, 1, 0, over;\n"
        "}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
    if (done != 0) return;
  }
  __trap();
}

/// Reduces the registers of a warpgroup (four warps) to `count` per thread. All threads of the warpgroup must
/// call it. In code for targets other than sm_90a, sm_100a and sm_103a it does nothing.
template <int count>
__device__ __forceinline__ void setmaxnreg_dec() {
#if GAUSSWEEP_SETMAXNREG
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
#endif
}
/// Increases the registers to `count` per thread. Waits until other warpgroups have released enough
/// registers.
template <int count>
__device__ __forceinline__ void setmaxnreg_inc() {
#if GAUSSWEEP_SETMAXNREG
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
#endif
}

/// Load and store 16 bytes (2 doubles, 4 floats or 4 unsigned integers) in the block's shared memory.
/// @pre the address is a multiple of 16
__device__ __forceinline__ void load_pack(unsigned address, double* value) {
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(value[0]), "=d"(value[1]) : "r"(address) : "memory");
}
__device__ __forceinline__ void load_pack(unsigned address, float* value) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value[0]), "=f"(value[1]), "=f"(value[2]), "=f"(value[3])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ void load_pack(unsigned address, unsigned* value) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value[0]), "=r"(value[1]), "=r"(value[2]), "=r"(value[3])
               : "r"(address)
               : "memory");
}
/// Loads 16 bytes from another block's shared memory, at an address from map_shared_rank.
__device__ __forceinline__ void load_pack_remote(unsigned address, double* value) {
  asm volatile("ld.shared::cluster.v2.f64 {%0, %1}, [%2];"
               : "=d"(value[0]), "=d"(value[1])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ void store_pack(unsigned address, const double* value) {
  asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(address), "d"(value[0]), "d"(value[1]) : "memory");
}
__device__ __forceinline__ void store_pack(unsigned address, const float* value) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(value[0]), "f"(value[1]),
               "f"(value[2]), "f"(value[3])
               : "memory");
}
__device__ __forceinline__ void store_pack(unsigned address, const unsigned* value) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(value[0]), "r"(value[1]),
               "r"(value[2]), "r"(value[3])
               : "memory");
}
/// Stores 16 bytes if `condition` holds, without a branch.
__device__ __forceinline__ void store_pack_if(bool condition, unsigned address, const double* value) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.u32 p, %3, 0;\n@p st.shared.v2.f64 [%0], {%1, %2};\n}" ::"r"(address),
      "d"(value[0]), "d"(value[1]), "r"(static_cast<unsigned>(condition))
      : "memory");
}
__device__ __forceinline__ void store_pack_if(bool condition, unsigned address, const unsigned* value) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.u32 p, %5, 0;\n@p st.shared.v4.b32 [%0], {%1, %2, %3, %4};\n}" ::"r"(
          address),
      "r"(value[0]), "r"(value[1]), "r"(value[2]), "r"(value[3]), "r"(static_cast<unsigned>(condition))
      : "memory");
}
__device__ __forceinline__ void store_pack_if(bool condition, unsigned address, const float* value) {
  const unsigned words[4] = {__float_as_uint(value[0]), __float_as_uint(value[1]), __float_as_uint(value[2]),
                             __float_as_uint(value[3])};
  store_pack_if(condition, address, words);
}
/// Load and store one element in the block's shared memory.
__device__ __forceinline__ void store_one(unsigned address, double value) {
  asm volatile("st.shared.f64 [%0], %1;" ::"r"(address), "d"(value) : "memory");
}
__device__ __forceinline__ void store_one(unsigned address, float value) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}
__device__ __forceinline__ void load_one(unsigned address, unsigned& value) {
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
}
__device__ __forceinline__ void load_one(unsigned address, double& value) {
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"(address) : "memory");
}
__device__ __forceinline__ void load_one(unsigned address, float& value) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
}
/// Starts to store 16 bytes in another block's shared memory. Their arrival counts as 16 bytes of
/// transactions at `barrier` in the shared memory of that block. Both addresses are from map_shared_rank.
__device__ __forceinline__ void st_async(unsigned address, unsigned barrier, const double* value) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::"r"(address),
      "l"(__double_as_longlong(value[0])), "l"(__double_as_longlong(value[1])), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void st_async(unsigned address, unsigned barrier, const unsigned* value) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
          address),
      "r"(value[0]), "r"(value[1]), "r"(value[2]), "r"(value[3]), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void st_async(unsigned address, unsigned barrier, const float* value) {
  const unsigned words[4] = {__float_as_uint(value[0]), __float_as_uint(value[1]), __float_as_uint(value[2]),
                             __float_as_uint(value[3])};
  st_async(address, barrier, words);
}

/// Performs st_async if `condition` holds, without a branch.
__device__ __forceinline__ void st_async_if(bool condition, unsigned address, unsigned barrier,
                                            const unsigned* value) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.u32 p, %6, 0;\n"
      "@p st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];\n}" ::
          "r"(address),
      "r"(value[0]), "r"(value[1]), "r"(value[2]), "r"(value[3]), "r"(barrier),
      "r"(static_cast<unsigned>(condition))
      : "memory");
}

#endif

}  // namespace gaussweep::cuda::simt
