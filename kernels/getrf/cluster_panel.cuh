#pragma once
/// Factors a panel of getrf/recursive, LU with partial pivoting, in the registers of one thread-block
/// cluster.
///
/// A panel of `rows` x `cols` stays in registers until it is factored. A thread owns a row (or
/// `RowsPerThread` rows) of `Columns` elements. Each column costs one exchange of pivot candidates among the
/// blocks of the cluster: every block, or every warp, finds its largest element in the column. It sends this
/// element, with the next few elements of its row, to the shared memory of all blocks. An mbarrier counts the
/// received bytes and signals that all candidates have arrived. Rows do not move while the panel is factored.
/// Each thread tracks the positions that LAPACK's row exchanges would give its rows, and stores the rows at
/// these positions at the end.
///
/// Needs compute capability 9.0 (clusters, st.async). Ties go to the first element, as in BLAS's idamax.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/getrf/panel_columns.cuh"
#include "kernels/getrf/panel_messages.cuh"
#include "kernels/getrf/panel_update.cuh"
#include "kernels/getrf/workspaces.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

using detail::Senders;

namespace detail {

#if GAUSSWEEP_CLUSTERS

/// Loads a thread's row of `cols` elements, `lda` apart; further elements of v are arbitrary. Uses 32-bit
/// offsets, so that an address takes one instruction.
template <class T, int Columns>
__device__ __forceinline__ void load_row(T (&v)[Columns], const T* from, std::int64_t lda, int cols) {
  const auto step = static_cast<unsigned>(lda);
  if (cols == Columns) {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Columns; ++c) v[c] = from[static_cast<unsigned>(c) * step];
  } else {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Columns; ++c) v[c] = from[static_cast<unsigned>(min(c, cols - 1)) * step];
  }
}
template <class T, int Columns>
__device__ __forceinline__ void store_row(const T (&v)[Columns], T* to, std::int64_t lda, int cols) {
  const auto step = static_cast<unsigned>(lda);
  if (cols == Columns) {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Columns; ++c) to[static_cast<unsigned>(c) * step] = v[c];
  } else {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Columns; ++c) {
      if (c < cols) to[static_cast<unsigned>(c) * step] = v[c];
    }
  }
}

#endif

}  // namespace detail

/// The number of clusters per launch of factor_panel that only exchange rows. It is larger if each cluster
/// has only one block, because all their warps share the work.
template <Senders SentBy>
constexpr int row_exchange_clusters = SentBy == Senders::block ? 8 : 1;

/// The dynamic shared memory of a block of factor_panel.
template <class T, int Columns, int RowsPerThread, int Threads, Senders SentBy>
struct PanelMemory {
  detail::ExchangeMemory<T, Columns, RowsPerThread, Threads, SentBy> exchange;
  alignas(16) T upper[max_panel_columns * detail::upper_stride<T, Columns>];  ///< rows of U
  alignas(16) T scratch[Threads / 32][detail::panel_scratch<T>];              ///< per warp, for the update
  T triangle[max_panel_columns * detail::panel_triangle_stride<T>];           ///< L of the previous panel
};

/// Factors the panel at `a` (column-major, lda) in the first cluster of the grid. `first` is the index in the
/// matrix of the panel's first row. Pivots (from 1) and exchanges refer to rows of the matrix; their arrays
/// start at the panel's first column. `info`: set to the index (from 1) of the first zero pivot if it is
/// still 0.
///
/// If update.cols > 0, the clusters first apply the previous panel's update (panel_update.cuh). The first
/// cluster updates the columns of this panel. The following clusters update `Columns` columns each, right of
/// the panel, and end. The last `row_exchange_clusters` clusters exchange rows in the columns left of the
/// previous panel and in the permutations PreviousPanelUpdate::source_rows. The kernel may be launched early
/// (programmatic dependent launch) and waits for the previous kernel. With Senders::block a cluster has one
/// block.
/// @pre rows <= blocks of a cluster * Threads * RowsPerThread, cols <= min(Columns, rows),
/// sizeof(PanelMemory) bytes of dynamic shared memory
template <class T, int Columns, int RowsPerThread, int Threads, Senders SentBy>
__global__ void __launch_bounds__(Threads, 1)
    factor_panel(T* a, std::int64_t lda, int rows, int cols, int first, int* pivots, RowPermutation exchanges,
                 int* info, PreviousPanelUpdate update) {
#if GAUSSWEEP_CLUSTERS
  using namespace detail;
  constexpr int warps = Threads / 32;
  static_assert(Columns <= 32 && Columns * sizeof(T) % 16 == 0 && warps <= 32,
                "one warp sends a row, and reads a block's candidates");
  using Memory = PanelMemory<T, Columns, RowsPerThread, Threads, SentBy>;
  constexpr int stride = upper_stride<T, Columns>;
  Memory& memory = *simt::dynamic_shared<Memory>();
  T* const triangle = memory.triangle;
  T* const upper = memory.upper;

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp = thread / 32;
  const unsigned rank = simt::cluster_rank();
  const unsigned blocks = simt::cluster_blocks();
  const int cluster = static_cast<int>(blockIdx.x / blocks);
  // Only the first cluster factors a panel; the others exchange no candidates.
  const CandidateExchange<T, Columns, RowsPerThread, Threads, SentBy> exchange(memory.exchange,
                                                                               cluster == 0 ? cols : 0);
  // Programmatic dependent launch: lets the next kernel start, and waits for the end of the previous one.
  simt::griddepcontrol_launch_dependents();
  simt::griddepcontrol_wait();

  // The index of the cluster among the last `row_exchange_clusters` clusters; negative for the others.
  const int exchange_cluster = cluster - static_cast<int>(gridDim.x / blocks) + row_exchange_clusters<SentBy>;
  if (cluster > 0 && exchange_cluster >= 0) {
    exchange_other_columns(
        /*column=*/a - first, lda, first, update,
        (exchange_cluster * static_cast<int>(blocks) + static_cast<int>(rank)) * warps + warp,
        row_exchange_clusters<SentBy> * static_cast<int>(blocks) * warps);
    return;
  }
  // The first column that this cluster updates, counted from the panel's end.
  const int right_begin = (cluster - 1) * Columns;
  T* const own_columns = cluster == 0 ? a : a + (cols + right_begin) * lda;
  const int own_count = cluster == 0 ? cols : min(Columns, update.columns_right - right_begin);
  const int own_row = static_cast<int>(rank) * Threads + thread;  // the thread's first row in the panel
  const int step = static_cast<int>(blocks) * Threads;            // distance between the thread's rows
  // The row to which row `lane` of the previous panel moves, relative to `first`; see displaced_from.
  const int displaced_to = lane < update.cols ? update.exchanges.target[lane] - first : -1;
  if (update.cols > 0)
    load_upper<Columns, Threads>(own_columns, a, lda, first, own_count, update, triangle, upper);
  T v[RowsPerThread][Columns];
  int position[RowsPerThread];
  GAUSSWEEP_UNROLL
  for (int s = 0; s < RowsPerThread; ++s) {
    const int row = own_row + s * step;
    position[s] = row < rows ? row : no_row;
    const int from = displaced_from(row, lane, displaced_to, update.cols);
    load_row(v[s], own_columns + (row < rows ? from : 0), lda, own_count);
  }
  // The cluster barrier has two purposes. All blocks' mbarriers must be initialised before a message is sent.
  // All rows must be loaded before the rows of U are stored, because a row of U may replace a row that
  // another block loads.
  if (update.cols > 0) {
    PanelProduct<T, Columns, RowsPerThread> product(own_row, step, rows, a - update.cols * lda, lda,
                                                    update.cols);
    __syncthreads();
    solve_upper<Columns, Threads>(triangle, upper, memory.scratch[warp], update.cols);
    simt::cluster_arrive();  // this thread's loads are complete
    __syncthreads();         // U is complete in shared memory
    if constexpr (uses_tensor_cores<T, Columns>) {
      product.subtract(v, upper, memory.scratch[warp]);
    } else {
      product.subtract(v, upper);
    }
  } else {
    simt::cluster_arrive();
  }
  simt::cluster_wait();
  if (update.cols > 0) {
    // The blocks and their warps share the columns of U to store.
    for (int c = static_cast<int>(rank) + warp * static_cast<int>(blocks); c < own_count;
         c += warps * static_cast<int>(blocks)) {
      if (lane < update.cols) own_columns[lane - update.cols + c * lda] = upper[lane * stride + c];
    }
  }
  if (cluster > 0) {
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) {
      if (position[s] != no_row) store_row(v[s], own_columns + position[s], lda, own_count);
    }
    return;
  }

  int first_zero = no_row;  // the first column with a zero pivot
  int my_pivot = 0;         // the pivot of column `lane`
  factor_columns(v, position, cols, exchange, first_zero, my_pivot);
  if (rank == 0 && warp == 0 && lane < cols) pivots[lane] = first + my_pivot + 1;

  GAUSSWEEP_UNROLL
  for (int s = 0; s < RowsPerThread; ++s) {
    const int row = own_row + s * step;
    if (row >= rows) continue;
    const int to = position[s];  // LAPACK's row exchanges move row `row` of the panel here
    store_row(v[s], a + to, lda, cols);
    if (to < cols) exchanges.source[to] = first + row;
    if (row < cols) exchanges.target[row] = to < cols ? -1 : first + to;  // -1: stays in these `cols` rows
  }
  if (thread == 0 && rank == 0 && first_zero != no_row && *info == 0) *info = first + first_zero + 1;
#else
  __trap();  // never runs: the callers require compute capability 9.0
#endif
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
