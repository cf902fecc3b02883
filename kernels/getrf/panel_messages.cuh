#pragma once
/// What the blocks of a cluster tell each other while they factor a panel, and how: candidates for the pivot,
/// rows, and the barriers that count them. Needs compute capability 9.0.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

namespace gaussweep::cuda::lu::detail {

/// |value| as bits that compare like it.
__device__ __forceinline__ unsigned long long magnitude(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(value)) & 0x7fffffffffffffffull;
}
__device__ __forceinline__ unsigned magnitude(float value) {
  return __float_as_uint(value) & 0x7fffffffu;
}

constexpr int nobody = 0x7fffffff;

/// What a block tells the others of its candidate for the pivot: its magnitude in two words, the position of
/// its row, and the word of its value that holds the sign.
struct __align__(16) Candidate {
  unsigned high, low;
  int position;
  unsigned with_sign;
};
__device__ __forceinline__ Candidate candidate(double value, int position) {
  const auto high = static_cast<unsigned>(__double2hiint(value));
  return {high & 0x7fffffffu, static_cast<unsigned>(__double2loint(value)), position, high};
}
__device__ __forceinline__ Candidate candidate(float value, int position) {
  const unsigned bits = __float_as_uint(value);
  return {bits & 0x7fffffffu, 0, position, bits};
}
__device__ __forceinline__ double value_of(const Candidate& c, double) {
  return __hiloint2double(static_cast<int>(c.with_sign), static_cast<int>(c.low));
}
__device__ __forceinline__ float value_of(const Candidate& c, float) {
  return __uint_as_float(c.with_sign);
}
/// Whether the reciprocal of the candidate is a normal number, as LAPACK's sfmin asks; by its exponent.
__device__ __forceinline__ bool has_reciprocal(const Candidate& c, double) {
  return c.high - 0x00200000u < 0x7fc00000u - 0x00200000u;
}
__device__ __forceinline__ bool has_reciprocal(const Candidate& c, float) {
  return c.high - 0x01000000u < 0x7e000000u - 0x01000000u;
}

#if __CUDA_ARCH__ >= 900

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
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
/// A barrier of the cluster's threads in two halves: what a thread did before it arrived is done for those
/// that have awaited it.
__device__ __forceinline__ void arrive_at_cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void await_cluster_barrier() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
/// The address of the same variable in the shared memory of block `rank`.
__device__ __forceinline__ unsigned address_at(unsigned address, unsigned rank) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
/// 16 bytes at once.
__device__ __forceinline__ void send_pack(unsigned address, unsigned barrier, const double* value) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::"r"(address),
      "l"(__double_as_longlong(value[0])), "l"(__double_as_longlong(value[1])), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void send_pack(unsigned address, unsigned barrier, const float* value) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
          address),
      "r"(__float_as_uint(value[0])), "r"(__float_as_uint(value[1])), "r"(__float_as_uint(value[2])),
      "r"(__float_as_uint(value[3])), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void send(unsigned address, unsigned barrier, const Candidate& c) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
          address),
      "r"(c.high), "r"(c.low), "r"(c.position), "r"(c.with_sign), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void expect_bytes(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/// Waits until the barrier's phase of this parity is over. A wait that cannot end, because a block of the
/// cluster is gone, ends in an error: each try sleeps for a while in hardware, and a panel takes
/// microseconds.
__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
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

/// The lane that holds the largest of a warp's candidates; of equal ones, that of the smallest position.
__device__ __forceinline__ int best_lane(const Candidate& mine) {
  constexpr unsigned all = 0xffffffffu;
  const unsigned most = __reduce_max_sync(all, mine.high);
  unsigned equal = __ballot_sync(all, mine.high == most);
  if (__popc(equal) > 1) {  // rare, but in matrices of small integers
    const unsigned low = mine.high == most ? mine.low : 0u;
    const bool largest = __reduce_max_sync(all, low) == low && mine.high == most;
    const unsigned position = static_cast<unsigned>(largest ? mine.position : nobody);
    const unsigned first = __reduce_min_sync(all, position);
    equal = __ballot_sync(all, largest && position == first);
  }
  return __ffs(static_cast<int>(equal)) - 1;
}

/// 1 / value to the last bit or the one before it, for a value that has_reciprocal.
__device__ __forceinline__ double reciprocal(double value) {
  double guess;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(value));
  const double error = std::fma(-value, guess, 1.0);
  return std::fma(guess, std::fma(error, error, error), guess);
}
__device__ __forceinline__ float reciprocal(float value) {
  float guess;  // not __frcp_rn: lanes that hold 0 would send their warp through its slow way
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(value));
  return std::fma(guess, std::fma(-value, guess, 1.0f), guess);
}

/// Shared memory by its address in the shared window: a pointer would be made anew from the block's rank.
__device__ __forceinline__ Candidate load_candidate(unsigned address) {
  Candidate c;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(c.high), "=r"(c.low), "=r"(c.position), "=r"(c.with_sign)
               : "r"(address)
               : "memory");
  return c;
}
__device__ __forceinline__ void store_candidate(unsigned address, const Candidate& c) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(c.high), "r"(c.low),
               "r"(c.position), "r"(c.with_sign)
               : "memory");
}
/// 16 bytes at once: as many elements as that are.
__device__ __forceinline__ void load_pack(unsigned address, double* value) {
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(value[0]), "=d"(value[1]) : "r"(address) : "memory");
}
__device__ __forceinline__ void load_pack(unsigned address, float* value) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value[0]), "=f"(value[1]), "=f"(value[2]), "=f"(value[3])
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

#endif

}  // namespace gaussweep::cuda::lu::detail
