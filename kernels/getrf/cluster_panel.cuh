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

#include "kernels/getrf/panel_messages.cuh"
#include "kernels/getrf/panel_update.cuh"
#include "kernels/getrf/recursive_workspace.hpp"

namespace gaussweep::cuda::lu {

using gaussweep::lu::most_blocks;

namespace detail {

#if __CUDA_ARCH__ >= 900

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

/// Factors the panel at `a` (column-major, lda): the first cluster of the grid does. `first` is the panel's
/// row in the matrix: pivots (from 1) and exchanges are in the matrix's rows; pivots and exchanges belong to
/// the panel's columns. `info`: the smallest zero pivot, from 1, unless it holds a smaller one.
///
/// Where `update` has columns, every cluster but the last first does in `Columns` columns, of which the panel
/// is the first, what the panel before left to do; those beyond the panel end with it. The last cluster
/// exchanges rows elsewhere. Launched early (programmatic dependent launch), it waits for what came before.
/// @pre rows <= blocks of a cluster * Threads * RowsPerThread, cols <= min(Columns, rows)
template <class T, int Columns, int RowsPerThread, int Threads>
__global__ void __launch_bounds__(Threads, 1)
    factor_panel(T* a, std::int64_t lda, int rows, int cols, int first, int* pivots, Exchanges exchanges,
                 int* info, Update update) {
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
  constexpr int stride = upper_stride<T, Columns>;
  __shared__ T triangle[widest_panel * widest_panel];
  __shared__ __align__(16) T upper[widest_panel * stride];

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
  await_launches_before();

  const int cluster = static_cast<int>(blockIdx.x / blocks);
  if (cluster > 0 && cluster == static_cast<int>(gridDim.x / blocks) - 1) {
    exchange_elsewhere(a - first, lda, first, update, static_cast<int>(rank) * warps + warp,
                       static_cast<int>(blocks) * warps);
    return;
  }
  const int beyond = (cluster - 1) * Columns;  // the panel, of which this cluster's columns begin
  T* const own = cluster == 0 ? a : a + (cols + beyond) * lda;
  const int own_cols = cluster == 0 ? cols : min(Columns, update.beyond - beyond);
  const int own_row = static_cast<int>(rank) * Threads + thread;
  const int step = static_cast<int>(blocks) * Threads;
  const int displaced_to = lane < update.cols ? update.exchanges.target[lane] - first : -1;
  if (update.cols > 0) load_upper<Columns, Threads>(own, a, lda, first, own_cols, update, triangle, upper);
  T v[RowsPerThread][Columns];
  int position[RowsPerThread];
#pragma unroll
  for (int s = 0; s < RowsPerThread; ++s) {
    const int row = own_row + s * step;
    position[s] = row < rows ? row : nobody;
    const int from = displaced_from(row, lane, displaced_to, update.cols);
#pragma unroll
    for (int c = 0; c < Columns; ++c) {
      v[s][c] = row < rows && c < own_cols ? own[from + c * lda] : T(0);
    }
  }
  // Every block's barriers are ready before anything is sent to them, and everything was read before the
  // rows of U, which come from below, are stored.
  if (update.cols > 0) {
    ProductWithL<Columns, RowsPerThread, T> product(own_row, step, rows, a - update.cols * lda, lda);
    __syncthreads();
    arrive_at_cluster_barrier();
    for (int c = warp * 8; c < Columns; c += warps * 8) {
      solve_tile(triangle, upper + c, stride, update.cols);
    }
    __syncthreads();  // U is there
    product.subtract(v, update.cols, shared_address(upper));
  } else {
    arrive_at_cluster_barrier();
  }
  await_cluster_barrier();
  if (update.cols > 0) {
    for (int c = static_cast<int>(rank) + warp * static_cast<int>(blocks); c < own_cols;
         c += warps * static_cast<int>(blocks)) {
      if (lane < update.cols) own[lane - update.cols + c * lda] = upper[lane * stride + c];
    }
  }
  if (cluster > 0) {
#pragma unroll
    for (int s = 0; s < RowsPerThread; ++s) {
#pragma unroll
      for (int c = 0; c < Columns; ++c) {
        if (position[s] != nobody && c < own_cols) own[position[s] + c * lda] = v[s][c];
      }
    }
    return;
  }

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
      // 16 bytes a lane; as many lanes as a row takes send it to one block, others to the next. Columns that
      // are finished have come to the end of the row: nothing is subtracted from them.
      constexpr unsigned packs = Columns / pack, at_once = 32 / packs;
      const unsigned own_pack = static_cast<unsigned>(lane) % packs;
      T elements[pack];
      load_pack(row_out + own_pack * 16, elements);
#pragma unroll
      for (int p = 0; p < pack; ++p) {
        if (static_cast<int>(own_pack) * pack + p >= Columns - j) elements[p] = T(0);
      }
      const unsigned to_row =
          inbox + most_blocks * static_cast<unsigned>(sizeof(Candidate)) + rank * row_bytes + own_pack * 16;
      for (unsigned r = static_cast<unsigned>(lane) / packs; r < blocks; r += at_once) {
        send_pack(address_at(to_row, r), address_at(barrier, r), elements);
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
    const int row = own_row + s * step;
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
