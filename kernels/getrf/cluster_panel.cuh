#pragma once
/// The panel of an LU factorisation with partial pivoting, in the registers of one thread-block cluster.
///
/// A panel of `rows` x `cols` lies in registers from its first column to its last. A thread owns a row (or
/// `RowsPerThread` of them) of `Columns` elements. A column costs one exchange among the blocks of the
/// cluster. Every block, or every warp, finds its largest element. It sends that, and what its row has in the
/// next few columns, to all others' shared memory. A barrier of the memory system (mbarrier) counts these
/// bytes and says that all candidates are there. No row moves while the panel is factored. Rows know the
/// position that LAPACK's exchanges would have brought them to, and are stored there at the end.
///
/// Needs compute capability 9.0 (clusters, st.async). Ties are broken as LAPACK's idamax does: the first.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/getrf/panel_columns.cuh"
#include "kernels/getrf/panel_messages.cuh"
#include "kernels/getrf/panel_update.cuh"
#include "kernels/getrf/recursive_workspace.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

using detail::Senders;

namespace detail {

#if GAUSSWEEP_CLUSTERS

/// A thread's row, of which `cols` elements are there, `lda` apart; what v has beyond them does not matter.
/// Offsets of 32 bits, which one instruction brings into an address.
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

/// Clusters of a launch of factor_panel that exchange rows elsewhere.
template <Senders By>
constexpr int exchangers = By == Senders::block ? 8 : 1;

/// The dynamic shared memory of a block of factor_panel.
template <class T, int Columns, int RowsPerThread, int Threads, Senders By>
struct PanelMemory {
  detail::ExchangeMemory<T, Columns, RowsPerThread, Threads, By> exchange;
  alignas(16) T upper[widest_panel * detail::upper_stride<T, Columns>];
  alignas(16) T scratch[Threads / 32][detail::panel_scratch<T>];
  T triangle[widest_panel * detail::panel_triangle_stride<T>];
};

/// Factors the panel at `a` (column-major, lda): the first cluster of the grid does. `first` is the panel's
/// row in the matrix. Pivots (from 1) and exchanges are in the matrix's rows, and belong to the panel's
/// columns. `info`: the smallest zero pivot, from 1, unless it holds a smaller one.
///
/// Where `update` has columns, every cluster but the last ones first does what the panel before left to do. A
/// cluster does it in `Columns` columns; the first cluster's are the panel. Clusters beyond the panel end
/// with it. The last `exchangers` exchange rows elsewhere. Launched early (programmatic dependent launch), it
/// waits for what came before. Clusters have one block each where senders are the `block`'s warps.
/// @pre rows <= blocks of a cluster * Threads * RowsPerThread, cols <= min(Columns, rows), PanelMemory of
/// dynamic shared memory
template <class T, int Columns, int RowsPerThread, int Threads, Senders By>
__global__ void __launch_bounds__(Threads, 1)
    factor_panel(T* a, std::int64_t lda, int rows, int cols, int first, int* pivots, Exchanges exchanges,
                 int* info, Update update) {
#if GAUSSWEEP_CLUSTERS
  using namespace detail;
  constexpr int warps = Threads / 32;
  static_assert(Columns <= 32 && Columns * sizeof(T) % 16 == 0 && warps <= 32,
                "one warp sends a row, and reads a block's candidates");
  using Memory = PanelMemory<T, Columns, RowsPerThread, Threads, By>;
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
  const Exchange<T, Columns, RowsPerThread, Threads, By> exchange(memory.exchange, cluster == 0 ? cols : 0);
  simt::griddepcontrol_launch_dependents();
  simt::griddepcontrol_wait();

  const int exchanger = cluster - static_cast<int>(gridDim.x / blocks) + exchangers<By>;
  if (cluster > 0 && exchanger >= 0) {
    exchange_elsewhere(a - first, lda, first, update,
                       (exchanger * static_cast<int>(blocks) + static_cast<int>(rank)) * warps + warp,
                       exchangers<By> * static_cast<int>(blocks) * warps);
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
  GAUSSWEEP_UNROLL
  for (int s = 0; s < RowsPerThread; ++s) {
    const int row = own_row + s * step;
    position[s] = row < rows ? row : nobody;
    const int from = displaced_from(row, lane, displaced_to, update.cols);
    load_row(v[s], own + (row < rows ? from : 0), lda, own_cols);
  }
  // Every block's barriers are ready before anything is sent to them. Everything was read before the rows of
  // U, which come from below, are stored.
  if (update.cols > 0) {
    PanelProduct<T, Columns, RowsPerThread> product(own_row, step, rows, a - update.cols * lda, lda,
                                                    update.cols);
    __syncthreads();
    solve_upper<Columns, Threads>(triangle, upper, memory.scratch[warp], update.cols);
    simt::cluster_arrive();  // waits for what was read; by now that is there
    __syncthreads();         // U is there
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
      if (position[s] != nobody) store_row(v[s], own + position[s], lda, own_cols);
    }
    return;
  }

  int first_zero = nobody;
  int my_pivot = 0;  // of the panel's column that is this lane's number
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
  if (thread == 0 && rank == 0 && first_zero != nobody && *info == 0) *info = first + first_zero + 1;
#else
  __trap();  // its row asks for compute capability 9.0
#endif
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
