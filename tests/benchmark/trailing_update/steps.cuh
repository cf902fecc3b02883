#pragma once
/// The instructions of the trailing update, update.cuh: barriers, copies, fragments, products; and the order
/// of its tiles.

#include "kernels/getrf/panel_messages.cuh"
#include "tests/benchmark/trailing_update/job.cuh"

namespace gaussweep::cuda::lu {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

namespace detail {

/// Where the loader tells the other warps which tile comes next.
struct alignas(16) TilePlace {
  int product;  ///< -1: no tile is left
  int row, column;
  int unused;
};

/// Addresses in shared memory, as numbers: pointers would be made anew from the block's rank. Behind the ring
/// lie the announced places and the barriers.
template <class Shape>
struct UpdateMemory {
  unsigned ring;

  static constexpr unsigned barriers = Shape::stages * Shape::stage_bytes + 16 * Shape::announced;
  static constexpr unsigned end = barriers + 8 * (2 * Shape::stages + Shape::announced + Shape::groups);
  static_assert(end + 1024 <= Shape::shared_bytes, "more shared memory");

  __device__ __forceinline__ unsigned stage(unsigned i) const { return ring + i * Shape::stage_bytes; }
  __device__ __forceinline__ unsigned place(unsigned i) const {
    return ring + Shape::stages * Shape::stage_bytes + 16 * i;
  }
  /// Slab i has arrived: the loader, and its bytes.
  __device__ __forceinline__ unsigned full(unsigned i) const { return ring + barriers + 8 * i; }
  /// Stage i is free again: all warps that multiply.
  __device__ __forceinline__ unsigned empty(unsigned i) const { return full(Shape::stages + i); }
  /// Place i is written: the loader.
  __device__ __forceinline__ unsigned announced(unsigned i) const { return full(2 * Shape::stages + i); }
  /// Group i is `lead` slabs into the tile: its warps.
  __device__ __forceinline__ unsigned led(unsigned i) const {
    return full(2 * Shape::stages + Shape::announced + i);
  }
};

__device__ __forceinline__ unsigned multiprocessor() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}
__device__ __forceinline__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
/// Whether the barrier's phase of this parity is over.
__device__ __forceinline__ bool over(unsigned barrier, unsigned parity) {
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
  return done != 0;
}
/// Waits until the barrier's phase of this parity is over. A wait that cannot end ends in an error after some
/// seconds, by the clock: how long hardware sleeps in a try is its own affair.
__device__ __forceinline__ void await(unsigned barrier, unsigned parity) {
  if (over(barrier, parity)) return;
  const unsigned long long begin = nanoseconds();
#pragma unroll 1
  for (int tries = 0; tries < 1 << 28; ++tries) {
    if (over(barrier, parity)) return;
    if (nanoseconds() - begin > 4000000000ull) break;
  }
  __trap();
}
__device__ __forceinline__ void start_barrier(unsigned barrier, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
/// What the four warps that execute this together have of registers from here on.
template <int Count>
__device__ __forceinline__ void give_up_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}
__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Not a branch, which would part the products around it.
__device__ __forceinline__ void arrive_if(bool arrives, unsigned barrier) {
  asm volatile(
      "{\n"
      ".reg .pred arrives;\n"
      "setp.ne.u32 arrives, %1, 0;\n"
      "@arrives mbarrier.arrive.shared.b64 _, [%0];\n"
      "}" ::"r"(barrier),
      "r"(static_cast<unsigned>(arrives))
      : "memory");
}
__device__ __forceinline__ void store_place(unsigned address, const TilePlace& place) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %3};" ::"r"(address), "r"(place.product), "r"(place.row),
               "r"(place.column)
               : "memory");
}
__device__ __forceinline__ TilePlace load_place(unsigned address) {
  TilePlace place;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(place.product), "=r"(place.row), "=r"(place.column), "=r"(place.unused)
               : "r"(address)
               : "memory");
  return place;
}

/// How long lines of L2 that are touched stay there. Volatile, so that it is made where it is used and takes
/// no registers beside the products.
__device__ __forceinline__ unsigned long long cache_policy_of_operands(int hints) {
  unsigned long long normal, last;
  asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(normal));
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
  return hints >= 2 ? last : normal;
}
__device__ __forceinline__ unsigned long long cache_policy_of_result(int hints) {
  unsigned long long normal, first;
  asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(normal));
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
  return hints >= 1 ? first : normal;
}

__device__ __forceinline__ void copy_box(unsigned to, const CUtensorMap* map, int x, int y, unsigned barrier,
                                         unsigned long long policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier), "l"(policy)
      : "memory");
}
__device__ __forceinline__ void prefetch_box(const CUtensorMap* map, int x, int y,
                                             unsigned long long policy) {
  asm volatile(
      "cp.async.bulk.prefetch.tensor.2d.L2.global.tile.L2::cache_hint [%0, {%1, %2}], %3;" ::"l"(map), "r"(x),
      "r"(y), "l"(policy)
      : "memory");
}
__device__ __forceinline__ void prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// Two neighbours in shared memory, `Offset` bytes on. Not reordered with barriers: volatile.
__device__ __forceinline__ void load_two(double& first, double& second, unsigned address) {
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(first), "=d"(second) : "r"(address));
}
/// Two neighbours of C.
__device__ __forceinline__ void load_two(double& first, double& second, const double* from,
                                         unsigned long long policy) {
  asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v2.f64 {%0, %1}, [%2], %3;"
               : "=d"(first), "=d"(second)
               : "l"(from), "l"(policy));
}
/// `count` (at most two) neighbours of C.
__device__ __forceinline__ void store_two(int count, double* to, double first, double second,
                                          unsigned long long policy) {
  asm volatile(
      "{\n"
      ".reg .pred both, one;\n"
      "setp.ge.s32 both, %3, 2;\n"
      "setp.eq.s32 one, %3, 1;\n"
      "@both st.global.L2::cache_hint.v2.f64 [%0], {%1, %2}, %4;\n"
      "@one st.global.L2::cache_hint.f64 [%0], %1, %4;\n"
      "}" ::"l"(to),
      "d"(first), "d"(second), "r"(count), "l"(policy)
      : "memory");
}

__device__ __forceinline__ void multiply_16x8(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
__device__ __forceinline__ void multiply_16x8(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, "
      "%11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
        "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

/// The part of the 16 rows that are `tile` times 16 below a warp's first, k from `step` times Inner on.
/// `address`: of a lane's chunk in the even line and in the odd one.
template <int Inner>
__device__ __forceinline__ void load_rows(double (&a)[Inner / 2], const unsigned (&address)[2], int tile,
                                          int step) {
  const unsigned begin = tile * 2048 + step * Inner * 128;
#pragma unroll
  for (int half = 0; half < Inner / 8; ++half) {
    load_two(a[half * 4], a[half * 4 + 1], address[0] + begin + half * 1024);
    load_two(a[half * 4 + 2], a[half * 4 + 3], address[1] + begin + half * 1024);
  }
}
/// The same of 8 columns of B. `address`: of a lane's chunk in the first half of a line and in the second.
template <int Inner>
__device__ __forceinline__ void load_columns(double (&b)[Inner / 4], const unsigned (&address)[2], int tile,
                                             int step) {
#pragma unroll
  for (int half = 0; half < Inner / 8; ++half) {
    load_two(b[half * 2], b[half * 2 + 1], address[step + half] + tile * 1024);
  }
}

/// Where in the ring a warp is.
template <int Stages>
struct RingPlace {
  unsigned stage, parity;

  __device__ __forceinline__ void advance() {
    ++stage;
    if (stage == Stages) {
      stage = 0;
      parity ^= 1u;
    }
  }
};

/// A tile's place: groups of tile columns from the left, in a group row by row.
__device__ __forceinline__ TilePlace place_of(const UpdateJob& job, unsigned tile) {
  if (tile >= job.tiles) return {-1, 0, 0, 0};
  const int product = tile < job.first_tiles ? 0 : 1;
  const auto within = static_cast<int>(product == 0 ? tile : tile - job.first_tiles);
  const int tile_rows = job.product[product].tile_rows;
  const int tile_columns = job.product[product].tile_columns;
  const int group_tiles = job.group_columns * tile_rows;
  const int group = within / group_tiles;
  const int rest = within - group * group_tiles;
  const int begin = group * job.group_columns;
  const int width = min(job.group_columns, tile_columns - begin);
  return {product, rest / width, begin + rest % width, 0};
}

/// What a block on a reserved multiprocessor does: nothing; but where blocks of this launch are still to
/// start elsewhere, not at once. See `update_trailing`.
__device__ __forceinline__ void make_way(const UpdateJob& job) {
  if (job.patience == 0 || threadIdx.x != 0) return;
  const auto* const counters = static_cast<const volatile UpdateCounters*>(job.counters);
  const unsigned long long begin = nanoseconds();
#pragma unroll 1
  for (int tries = 0; tries < 1 << 16; ++tries) {
    if (counters->started >= job.wanted || counters->next_tile >= job.tiles) return;
    if (nanoseconds() - begin >= job.patience) return;
    __nanosleep(100);
  }
}

}  // namespace detail

#endif

}  // namespace gaussweep::cuda::lu
