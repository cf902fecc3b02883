#pragma once
/// The panel of an LU factorisation with partial pivoting, in the registers of one thread-block cluster.
///
/// A panel of `rows` x `cols` lies in registers from its first column to its last: a thread owns a row (or
/// `RowsPerThread` of them) of `Columns` elements. A column costs one exchange among the blocks of the
/// cluster: every block finds its largest element, and sends that element's whole row to all others' shared
/// memory; one barrier of the memory system (mbarrier), on which these bytes are counted, says that all
/// candidates are there. No row moves while the panel is factored: rows know the position that LAPACK's
/// exchanges would have brought them to, and are stored there at the end.
///
/// Registers are indexed by constants only: each step shifts the row by one column, the finished element
/// enters at the other end, and after `Columns` steps every element is back at its place. The loop's body is
/// therefore one for all columns and stays in the instruction cache.
///
/// Needs compute capability 9.0 (clusters, st.async). Ties are broken as LAPACK's idamax does: the first.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "kernels/getrf/recursive_workspace.hpp"

namespace gaussweep::cuda::lu {

using gaussweep::lu::most_blocks;

/// What a panel says of its row exchanges, beside LAPACK's pivots: rows of the matrix, from 0. Row
/// `first + t` is overwritten by what row `source[t]` held; what it held itself goes to row `target[t]`,
/// where that lies outside of the panel's first `cols` rows (else -1).
struct Exchanges {
  int* source;
  int* target;
};

namespace detail {

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
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
/// The address of the same variable in the shared memory of block `rank`.
__device__ __forceinline__ unsigned address_at(unsigned address, unsigned rank) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ __forceinline__ void send(unsigned address, unsigned barrier, double value) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(address),
               "l"(__double_as_longlong(value)), "r"(barrier)
               : "memory");
}
__device__ __forceinline__ void send(unsigned address, unsigned barrier, float value) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(address),
               "r"(__float_as_uint(value)), "r"(barrier)
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
__device__ __forceinline__ void load(unsigned address, double& value) {
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"(address) : "memory");
}
__device__ __forceinline__ void load(unsigned address, float& value) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
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

/// Each row of the thread, less its factor times the row at `u_row`, moved on by one column.
template <int Columns, int RowsPerThread, class T>
__device__ __forceinline__ void subtract(T (&v)[RowsPerThread][Columns], const T (&factor)[RowsPerThread],
                                         const T (&entering)[RowsPerThread], unsigned u_row) {
  constexpr int pack = 16 / sizeof(T);
  T u[pack];
#pragma unroll
  for (int c = 0; c < Columns; ++c) {
    if (c % pack == 0) load_pack(u_row + static_cast<unsigned>(c * sizeof(T)), u);
    if (c == 0) continue;
#pragma unroll
    for (int s = 0; s < RowsPerThread; ++s) v[s][c - 1] = std::fma(factor[s], u[c % pack], v[s][c]);
  }
#pragma unroll
  for (int s = 0; s < RowsPerThread; ++s) v[s][Columns - 1] = entering[s];
}

#endif

}  // namespace detail

/// Factors the panel at `a` (column-major, lda): one cluster is the whole grid. `first` is the panel's row in
/// the matrix: pivots (from 1) and exchanges are in the matrix's rows; pivots and exchanges belong to the
/// panel's columns. `info`: the smallest zero pivot, from 1, unless it holds a smaller one.
/// @pre rows <= gridDim.x * Threads * RowsPerThread, cols <= min(Columns, rows)
template <class T, int Columns, int RowsPerThread, int Threads>
__global__ void __launch_bounds__(Threads, 1)
    factor_panel(T* a, std::int64_t lda, int rows, int cols, int first, int* pivots, Exchanges exchanges,
                 int* info) {
#if __CUDA_ARCH__ >= 900
  using namespace detail;
  constexpr int warps = Threads / 32;
  constexpr int pack = 16 / sizeof(T);
  static_assert(Columns <= 32 && Columns % pack == 0 && warps <= 32,
                "one warp sends a row, and reads a block's candidates");
  constexpr unsigned row_bytes = Columns * sizeof(T);
  // What the blocks of the cluster sent: their candidates and these one's rows. A quick block may send the
  // next while the last is still read: two turns.
  constexpr unsigned turns = 2;
  constexpr unsigned turn_bytes = most_blocks * (sizeof(Candidate) + row_bytes);
  __shared__ __align__(16) unsigned char mail_memory[turns * turn_bytes];
  __shared__ __align__(16) Candidate warp_candidates[2][warps];
  __shared__ __align__(16) T outgoing[Columns];
  __shared__ __align__(8) std::uint64_t arrivals[turns];

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp = thread / 32;
  const unsigned rank = cluster_rank();
  const unsigned blocks = cluster_blocks();
  const unsigned mail = shared_address(mail_memory);
  const unsigned candidates = shared_address(warp_candidates);
  const unsigned row_out = shared_address(outgoing);
  const unsigned first_barrier = shared_address(arrivals);
  const unsigned mail_bytes = blocks * static_cast<unsigned>(sizeof(Candidate) + row_bytes);
  if (thread == 0) {
    for (unsigned turn = 0; turn < turns; ++turn) {
      const unsigned barrier = first_barrier + turn * 8;
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
      expect_bytes(barrier, mail_bytes);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }

  T v[RowsPerThread][Columns];
  int position[RowsPerThread];
#pragma unroll
  for (int s = 0; s < RowsPerThread; ++s) {
    const int row = (s * static_cast<int>(blocks) + static_cast<int>(rank)) * Threads + thread;
    position[s] = row < rows ? row : nobody;
#pragma unroll
    for (int c = 0; c < Columns; ++c) {
      v[s][c] = row < rows && c < cols ? a[row + c * lda] : T(0);
    }
  }
  cluster_barrier();  // every block's barriers are ready before anything is sent to them

  int first_zero = nobody;
  int my_pivot = 0;  // of the panel's column that is this lane's number
#pragma unroll 1
  for (int j = 0; j < cols; ++j) {
    const unsigned turn = static_cast<unsigned>(j) % turns;
    const unsigned barrier = first_barrier + turn * 8;
    const unsigned inbox = mail + turn * turn_bytes;
    const unsigned own_candidates =
        candidates + static_cast<unsigned>(j % 2 * warps * static_cast<int>(sizeof(Candidate)));
    // The thread's candidate among the rows that are not yet pivots, the warp's, the block's.
    Candidate mine = {0, 0, nobody, 0};
#pragma unroll
    for (int s = 0; s < RowsPerThread; ++s) {
      const Candidate c = candidate(v[s][0], position[s]);
      const bool larger = c.high > mine.high || (c.high == mine.high && c.low > mine.low);
      const bool equal = c.high == mine.high && c.low == mine.low;
      const bool open = position[s] >= j && position[s] != nobody;
      if (open && (larger || (equal && position[s] < mine.position))) mine = c;
    }
    const bool best_of_warp = lane == best_lane(mine);
    if (best_of_warp) store_candidate(own_candidates + static_cast<unsigned>(warp * sizeof(Candidate)), mine);
    __syncthreads();
    Candidate seen = {0, 0, nobody, 0};
    if (lane < warps) seen = load_candidate(own_candidates + static_cast<unsigned>(lane * sizeof(Candidate)));
    const int best_warp = best_lane(seen);
    if (warp == best_warp) {
      // The warp that holds the block's candidate sends it, and its row, to every block; a lane has a column.
      if (best_of_warp) {
#pragma unroll
        for (int s = 0; s < RowsPerThread; ++s) {
          if (RowsPerThread > 1 && position[s] != mine.position) continue;
#pragma unroll
          for (int c = 0; c < Columns; c += pack) {
            store_pack(row_out + static_cast<unsigned>(c * sizeof(T)), &v[s][c]);
          }
        }
      }
      __syncwarp();
      const Candidate best =
          load_candidate(own_candidates + static_cast<unsigned>(best_warp * sizeof(Candidate)));
      // Columns that are finished have come to the end of the row: nothing is subtracted from them.
      T element = T(0);
      if (lane < Columns - j) load(row_out + static_cast<unsigned>(lane * sizeof(T)), element);
      const unsigned to_row = inbox + most_blocks * static_cast<unsigned>(sizeof(Candidate)) +
                              rank * row_bytes + static_cast<unsigned>(lane * sizeof(T));
      if (lane < Columns) {
        for (unsigned r = 0; r < blocks; ++r) send(address_at(to_row, r), address_at(barrier, r), element);
      }
      if (lane < static_cast<int>(blocks)) {
        const auto r = static_cast<unsigned>(lane);
        const unsigned to_candidate = inbox + rank * static_cast<unsigned>(sizeof(Candidate));
        send(address_at(to_candidate, r), address_at(barrier, r), best);
      }
    }
    wait(barrier, static_cast<unsigned>(j) / turns % 2);

    // The pivot, its reciprocal (every lane takes that of one candidate meanwhile), and its row.
    seen = {0, 0, nobody, 0};
    if (lane < static_cast<int>(blocks))
      seen = load_candidate(inbox + static_cast<unsigned>(lane * sizeof(Candidate)));
    T inverse = reciprocal(value_of(seen, T()));
    const int from = best_lane(seen);
    inverse = __shfl_sync(0xffffffffu, inverse, from);
    const Candidate best = load_candidate(inbox + static_cast<unsigned>(from * sizeof(Candidate)));
    const unsigned u_row = inbox + most_blocks * static_cast<unsigned>(sizeof(Candidate)) +
                           static_cast<unsigned>(from) * row_bytes;
    const int pivot = best.position;
    const bool zero = (best.high | best.low) == 0;
    if (zero && first_zero == nobody) first_zero = j;
    if (lane == j) my_pivot = pivot;
    if (thread == 0) expect_bytes(barrier, mail_bytes);  // for the column after the next

    T factor[RowsPerThread], entering[RowsPerThread];
#pragma unroll
    for (int s = 0; s < RowsPerThread; ++s) factor[s] = v[s][0] * inverse;
    if (!has_reciprocal(best, T())) {
#pragma unroll
      for (int s = 0; s < RowsPerThread; ++s) factor[s] = zero ? T(0) : v[s][0] / value_of(best, T());
    }
#pragma unroll
    for (int s = 0; s < RowsPerThread; ++s) {
      const bool below = position[s] >= j && position[s] != pivot;
      entering[s] = below && !zero ? factor[s] : v[s][0];
      factor[s] = below ? -factor[s] : T(0);
      if (position[s] == pivot) {
        position[s] = j;
      } else if (position[s] == j) {
        position[s] = pivot;
      }
    }
    subtract<Columns, RowsPerThread>(v, factor, entering, u_row);
  }
  if (rank == 0 && warp == 0 && lane < cols) pivots[lane] = first + my_pivot + 1;
    // A panel narrower than its registers: the rest of the way round.
#pragma unroll 1
  for (int j = cols; j < Columns; ++j) {
#pragma unroll
    for (int s = 0; s < RowsPerThread; ++s) {
      const T head = v[s][0];
#pragma unroll
      for (int c = 1; c < Columns; ++c) v[s][c - 1] = v[s][c];
      v[s][Columns - 1] = head;
    }
  }

#pragma unroll
  for (int s = 0; s < RowsPerThread; ++s) {
    const int row = (s * static_cast<int>(blocks) + static_cast<int>(rank)) * Threads + thread;
    if (row >= rows) continue;
    const int to = position[s];
#pragma unroll
    for (int c = 0; c < Columns; ++c) {
      if (c < cols) a[to + c * lda] = v[s][c];
    }
    if (to < cols) exchanges.source[to] = first + row;
    if (row < cols) exchanges.target[row] = to < cols ? -1 : first + to;
  }
  if (thread == 0 && rank == 0 && first_zero != nobody && *info == 0) *info = first + first_zero + 1;
#else
  __trap();  // its row asks for compute capability 9.0
#endif
}

}  // namespace gaussweep::cuda::lu
