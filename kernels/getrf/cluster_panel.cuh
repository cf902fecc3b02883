#pragma once
/// The panel of an LU factorisation with partial pivoting, in the registers of one thread-block cluster.
///
/// A panel of `rows` x `cols` stays in registers until it is factored. A thread owns a row (or
/// `RowsPerThread` rows) of `Columns` elements. Each column costs one exchange among the blocks of the
/// cluster: every block, or every warp, finds its largest element, and sends it, with the next few elements
/// of its row, to the shared memory of all blocks. An mbarrier counts the received bytes and signals that all
/// candidates have arrived. Rows do not move while the panel is factored. Each thread tracks the positions
/// that LAPACK's exchanges would give its rows, and stores the rows there at the end.
///
/// Needs compute capability 9.0 (clusters, st.async). Ties go to the first element, as in LAPACK's idamax.

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
/// offsets, which need one instruction per address.
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

/// Clusters per launch of factor_panel that exchange rows in other columns.
template <Senders SentBy>
constexpr int exchangers = SentBy == Senders::block ? 8 : 1;

/// The dynamic shared memory of a block of factor_panel.
template <class T, int Columns, int RowsPerThread, int Threads, Senders SentBy>
struct PanelMemory {
  detail::ExchangeMemory<T, Columns, RowsPerThread, Threads, SentBy> exchange;
  alignas(16) T upper[widest_panel * detail::upper_stride<T, Columns>];
  alignas(16) T scratch[Threads / 32][detail::panel_scratch<T>];
  T triangle[widest_panel * detail::panel_triangle_stride<T>];
};

/// Factors the panel at `a` (column-major, lda) in the first cluster of the grid. `first` is the panel's row
/// in the matrix. Pivots (from 1) and exchanges refer to rows of the matrix; their arrays start at the
/// panel's first column. `info`: set to the first zero pivot, from 1, if it is still 0.
///
/// If `update` has columns, every cluster except the last ones first applies the previous panel to `Columns`
/// columns. The first cluster's columns are the panel; the other clusters update columns right of it and end.
/// The last `exchangers` clusters exchange rows in the other columns of the matrix. The kernel may be
/// launched early (programmatic dependent launch) and waits for the previous kernel. With Senders::block a
/// cluster has one block.
/// @pre rows <= blocks of a cluster * Threads * RowsPerThread, cols <= min(Columns, rows), PanelMemory of
/// dynamic shared memory
template <class T, int Columns, int RowsPerThread, int Threads, Senders SentBy>
__global__ void __launch_bounds__(Threads, 1)
    factor_panel(T* a, std::int64_t lda, int rows, int cols, int first, int* pivots, Exchanges exchanges,
                 int* info, Update update) {
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
  const Exchange<T, Columns, RowsPerThread, Threads, SentBy> exchange(memory.exchange,
                                                                      cluster == 0 ? cols : 0);
  simt::griddepcontrol_launch_dependents();
  simt::griddepcontrol_wait();

  const int exchanger = cluster - static_cast<int>(gridDim.x / blocks) + exchangers<SentBy>;
  if (cluster > 0 && exchanger >= 0) {
    exchange_other_columns(a - first, lda, first, update,
                           (exchanger * static_cast<int>(blocks) + static_cast<int>(rank)) * warps + warp,
                           exchangers<SentBy> * static_cast<int>(blocks) * warps);
    return;
  }
  const int right_begin =
      (cluster - 1) * Columns;  // this cluster's first column, counted from the panel's end
  T* const own = cluster == 0 ? a : a + (cols + right_begin) * lda;
  const int own_cols = cluster == 0 ? cols : min(Columns, update.columns_right - right_begin);
  const int own_row = static_cast<int>(rank) * Threads + thread;
  const int step = static_cast<int>(blocks) * Threads;
  const int displaced_to = lane < update.cols ? update.exchanges.target[lane] - first : -1;
  if (update.cols > 0) load_upper<Columns, Threads>(own, a, lda, first, own_cols, update, triangle, upper);
  T v[RowsPerThread][Columns];
  int position[RowsPerThread];
  GAUSSWEEP_UNROLL
  for (int s = 0; s < RowsPerThread; ++s) {
    const int row = own_row + s * step;
    position[s] = row < rows ? row : no_row;
    const int from = displaced_from(row, lane, displaced_to, update.cols);
    load_row(v[s], own + (row < rows ? from : 0), lda, own_cols);
  }
  // Every block's barriers must be ready before any message is sent, and everything must be read before the
  // rows of U, which come from below, are stored.
  if (update.cols > 0) {
    PanelProduct<T, Columns, RowsPerThread> product(own_row, step, rows, a - update.cols * lda, lda,
                                                    update.cols);
    __syncthreads();
    solve_upper<Columns, Threads>(triangle, upper, memory.scratch[warp], update.cols);
    simt::cluster_arrive();  // waits for the loads, which are complete by now
    __syncthreads();         // U is complete
    if constexpr (tensor_product<T, Columns>) {
      product.subtract(v, upper, memory.scratch[warp]);
    } else {
      product.subtract(v, upper);
    }
  } else {
    simt::cluster_arrive();
  }
  simt::cluster_wait();
  if (update.cols > 0) {
    for (int c = static_cast<int>(rank) + warp * static_cast<int>(blocks); c < own_cols;
         c += warps * static_cast<int>(blocks)) {
      if (lane < update.cols) own[lane - update.cols + c * lda] = upper[lane * stride + c];
    }
  }
  if (cluster > 0) {
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) {
      if (position[s] != no_row) store_row(v[s], own + position[s], lda, own_cols);
    }
    return;
  }

  int first_zero = no_row;
  int my_pivot = 0;  // the pivot of column `lane`
  factor_columns(v, position, cols, exchange, first_zero, my_pivot);
  if (rank == 0 && warp == 0 && lane < cols) pivots[lane] = first + my_pivot + 1;

  GAUSSWEEP_UNROLL
  for (int s = 0; s < RowsPerThread; ++s) {
    const int row = own_row + s * step;
    if (row >= rows) continue;
    const int to = position[s];
    store_row(v[s], a + to, lda, cols);
    if (to < cols) exchanges.source[to] = first + row;
    if (row < cols) exchanges.target[row] = to < cols ? -1 : first + to;
  }
  if (thread == 0 && rank == 0 && first_zero != no_row && *info == 0) *info = first + first_zero + 1;
#else
  __trap();  // the registry requires compute capability 9.0
#endif
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
