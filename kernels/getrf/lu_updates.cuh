#pragma once
/// Kernels that recursive_lu.cuh launches between panels: row exchanges, and the triangular solves that
/// compute rows of U.

#include <cmath>
#include <cstdint>

#include "kernels/getrf/cluster_panel.cuh"
#include "kernels/getrf/copy_columns.cuh"
#include "kernels/getrf/window_panel.cuh"
#include "kernels/getrf/workspaces.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

using gaussweep::lu::max_distributed_columns;
using gaussweep::lu::max_exchanges_by_row;
using gaussweep::lu::max_solve_rows_per_launch;

/// Applies a panel of `cols` columns to its column block, the `columns` columns at `a` that recursive_lu.cuh
/// factors panel by panel. `first` is the index in the matrix of the panel's first row. Columns [0, before)
/// and [after, columns) get the panel's row exchanges. In [after, columns) the rows of the panel become rows
/// of U, by substitution with the panel's unit lower triangle `l`. A thread block is one warp and takes 4
/// columns; each lane holds one row of the triangle.
///
/// The first thread blocks exchange the elements of the permutations `source_rows`, as if each were a column.
/// PreviousPanelUpdate in panel_update.cuh explains `source_rows`, `order` and `parities`. If the panel took
/// its pivots from a window of rows (window_panel.cuh), the last thread blocks compute L below this window.
/// Each of them takes 32 of the `below_count` rows at `below`.
template <class T>
__global__ void __launch_bounds__(32)
    exchange_and_solve(T* a, std::int64_t lda, const T* l, int first, int cols, int before, int after,
                       int columns, RowPermutation exchanges, int* source_rows, int order, unsigned parities,
                       T* below, int below_count) {
  constexpr int width = max_panel_columns;
  constexpr int columns_per_warp = 4;
  const int lane = static_cast<int>(threadIdx.x);
  const bool row_inside = lane < cols;
  const int source = row_inside ? exchanges.source[lane] : -1;
  const int target = row_inside ? exchanges.target[lane] : -1;
  const int own_row = first + lane;
  // The index among the thread blocks that process columns; negative if the block has permutations.
  const int block = static_cast<int>(blockIdx.x) - levels / columns_per_warp;
  if (block < 0) {
    int* column[columns_per_warp];
    detail::permutations_of(column, static_cast<int>(blockIdx.x), source_rows, order, parities);
    detail::exchange_and_store<int, columns_per_warp>(column, source, target, own_row);
    return;
  }
  const int blocks_before = (before + columns_per_warp - 1) / columns_per_warp;
  if constexpr (std::is_same_v<T, float>) {
    // The index among the thread blocks that compute L below the window; negative for the others.
    const int row_group = block - blocks_before - (columns - after + columns_per_warp - 1) / columns_per_warp;
    if (row_group >= 0) {
      solve_below_window(l, below + row_group * 32 + lane, lda,
                         /*is_row=*/row_group * 32 + lane < below_count);
      return;
    }
  }
  const bool left = block < blocks_before;
  const int begin = left ? block * columns_per_warp : after + (block - blocks_before) * columns_per_warp;
  const int end = left ? before : columns;
  T row_of_l[width];
  GAUSSWEEP_UNROLL
  for (int k = 0; k < width; ++k) {
    row_of_l[k] = !left && row_inside && k < lane ? l[lane + k * lda] : T(0);
  }
  T top[columns_per_warp];  // the lane's row of the panel's rows, in the block's columns
  T* column[columns_per_warp];
  GAUSSWEEP_UNROLL
  for (int i = 0; i < columns_per_warp; ++i) column[i] = begin + i < end ? a + (begin + i) * lda : nullptr;
  detail::exchange_columns<T, columns_per_warp>(top, column, source, target, own_row);
  if (!left) {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < width - 1; ++k) {
      if (k >= cols - 1) break;
      GAUSSWEEP_UNROLL
      for (int i = 0; i < columns_per_warp; ++i) {
        const T solved = __shfl_sync(0xffffffffu, top[i], k);
        if (lane > k) top[i] = std::fma(-row_of_l[k], solved, top[i]);
      }
    }
  }
  GAUSSWEEP_UNROLL
  for (int i = 0; i < columns_per_warp; ++i) {
    if (column[i] != nullptr && row_inside) column[i][own_row] = top[i];
  }
}

/// Sets the permutations of `order` elements, two per recursion level, to the identity.
template <class Index>
__global__ void start_permutations(Index* source_rows, int order) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= order) return;
  GAUSSWEEP_UNROLL
  for (int i = 0; i < 2 * levels; ++i) source_rows[i * static_cast<std::int64_t>(order) + row] = row;
}

/// Resets a permutation to the identity. @pre only the exchanges of columns [first, first + count) changed
/// it, i.e. only elements of these `count` rows and of the pivot rows; `pivots` count rows from 1
__device__ __forceinline__ void reset_permutation(int* source_rows, const int* pivots, int first, int count) {
  for (int row = first + static_cast<int>(threadIdx.x); row < first + count;
       row += static_cast<int>(blockDim.x)) {
    source_rows[row] = row;
    source_rows[pivots[row] - 1] = pivots[row] - 1;
  }
}

/// Applies the row exchanges of columns [first, first + count), count <= 1024, to the `columns` columns at
/// `a`. A block takes `ColumnsPerBlock` columns. Thread t moves the new content of row first + t to this row.
/// If the pivot row of column first + t is below these `count` rows, thread t also moves that row's new
/// content. Threads with the same pivot row write the same value.
/// @param source_rows the permutation of columns [first, first + count): for each row, the row with its new
/// content
/// @param previous the permutation of the `previous_count` columns before `first`; it is reset to the
/// identity, because the columns after first + count use the same memory
template <class T, int ColumnsPerBlock>
__global__ void __launch_bounds__(max_distributed_columns)
    exchange_rows_by_element(T* a, std::int64_t lda, int first, int count, int columns, const int* pivots,
                             const int* source_rows, int* previous, int previous_count) {
  const int t = static_cast<int>(threadIdx.x);
  const bool inside = t < count;
  const int row = first + t;
  const int source = inside ? source_rows[row] : row;
  int below_row = inside ? pivots[row] - 1 : 0;
  const int below_source = inside && below_row >= first + count ? source_rows[below_row] : -1;
  if (below_source < 0 || below_source == below_row) below_row = -1;  // nothing to move
  if (blockIdx.x == 0) reset_permutation(previous, pivots, first - previous_count, previous_count);
  const int begin = static_cast<int>(blockIdx.x) * ColumnsPerBlock;
  const bool moves = inside && source != row;
  T to_row[ColumnsPerBlock], to_below[ColumnsPerBlock];
  GAUSSWEEP_UNROLL
  for (int i = 0; i < ColumnsPerBlock; ++i) {
    const T* const column = a + (begin + i) * lda;
    const bool column_inside = begin + i < columns;
    if (column_inside && moves) to_row[i] = column[source];
    if (column_inside && below_row >= 0) to_below[i] = column[below_source];
  }
  __syncthreads();
  GAUSSWEEP_UNROLL
  for (int i = 0; i < ColumnsPerBlock; ++i) {
    T* const column = a + (begin + i) * lda;
    const bool column_inside = begin + i < columns;
    if (column_inside && moves) column[row] = to_row[i];
    if (column_inside && below_row >= 0) column[below_row] = to_below[i];
  }
}

/// Like exchange_rows_by_element, for many exchanges: these access nearly every cache line of a column, so
/// that copying whole columns hardly moves more data. A block copies the `rows` elements of a column from row
/// `first` on to its part of `buffer`, and back in the new order.
template <class T>
__global__ void __launch_bounds__(1024)
    exchange_rows_by_column_buffer(T* a, std::int64_t lda, int first, int rows, int columns,
                                   const int* pivots, const int* source_rows, int* previous,
                                   int previous_count, T* buffer) {
  if (blockIdx.x == 0) reset_permutation(previous, pivots, first - previous_count, previous_count);
  T* const column_copy = buffer + blockIdx.x * static_cast<std::int64_t>(rows);
  constexpr int unrolled = 8;
  const int step = static_cast<int>(blockDim.x);
  for (int c = static_cast<int>(blockIdx.x); c < columns; c += static_cast<int>(gridDim.x)) {
    T* const column = a + c * lda + first;
    for (int begin = static_cast<int>(threadIdx.x); begin < rows; begin += unrolled * step) {
      T value[unrolled];
      GAUSSWEEP_UNROLL
      for (int i = 0; i < unrolled; ++i) {
        if (begin + i * step < rows) value[i] = column[begin + i * step];
      }
      GAUSSWEEP_UNROLL
      for (int i = 0; i < unrolled; ++i) {
        if (begin + i * step < rows) column_copy[begin + i * step] = value[i];
      }
    }
    __syncthreads();
    for (int begin = static_cast<int>(threadIdx.x); begin < rows; begin += unrolled * step) {
      T value[unrolled];
      int source[unrolled];
      GAUSSWEEP_UNROLL
      for (int i = 0; i < unrolled; ++i) {
        const int row = begin + i * step;
        source[i] = row < rows ? source_rows[first + row] - first : row;
      }
      GAUSSWEEP_UNROLL
      for (int i = 0; i < unrolled; ++i) {
        if (source[i] != begin + i * step) value[i] = column_copy[source[i]];
      }
      GAUSSWEEP_UNROLL
      for (int i = 0; i < unrolled; ++i) {
        if (source[i] != begin + i * step) column[begin + i * step] = value[i];
      }
    }
    __syncthreads();
  }
}

/// The storage of the rows of B in a triangular solve.
enum class RowOrder {
  plain,    ///< row r is at b + r
  scaled,   ///< row r is at b + r and is first multiplied by scale[r]
  reversed  ///< row r is at b - r and is first multiplied by scale[-r]
};

/// Computes B = L^-1 B, or B = L^-1 if `invert`, for a unit lower triangular L of at most 256 rows, by
/// substitution. A block takes `Columns` columns of B; a thread keeps one row of these in registers. `scale`:
/// see RowOrder.
/// @pre blockDim.x is `rows` rounded up to a multiple of 32
template <class T, int Columns, RowOrder Order = RowOrder::plain>
__global__ void __launch_bounds__(max_solve_rows_per_launch)
    substitute(const T* l, std::int64_t ldl, int rows, T* b, std::int64_t ldb, int columns, bool invert,
               const T* scale) {
  constexpr int row_stride = Order == RowOrder::reversed ? -1 : 1;
  // A double buffer: the next warp may store while other warps still read.
  __shared__ __align__(16) T solved[2][32][Columns];
  const int row = static_cast<int>(threadIdx.x);
  const int lane = row % 32;
  const int warp = row / 32;
  const int begin = static_cast<int>(blockIdx.x) * Columns;
  const bool inside = row < rows;
  T x[Columns];
  GAUSSWEEP_UNROLL
  for (int c = 0; c < Columns; ++c) {
    const bool exists = inside && begin + c < columns;
    x[c] = invert ? T(row == begin + c) : exists ? b[row_stride * row + (begin + c) * ldb] : T(0);
    if (Order != RowOrder::plain && inside) x[c] *= scale[row_stride * row];
  }
  // Loads are unconditional with clamped indices, because a predicated load would stall the next one.
  const T* const row_of_l = l + (inside ? row : rows - 1);
  T factor[32];  // the negated elements of this row of L for the next 32 unknowns
  GAUSSWEEP_UNROLL
  for (int k = 0; k < 32; ++k) factor[k] = row_of_l[(k < rows ? k : rows - 1) * ldl];
  GAUSSWEEP_UNROLL
  for (int k = 0; k < 32; ++k) factor[k] = inside && (warp > 0 || k < lane) ? -factor[k] : T(0);
  GAUSSWEEP_ROLLED
  for (int first = 0; first < rows; first += 32) {
    const int owner = first / 32;  // the warp whose rows are solved in this iteration
    const int buffer_index = owner % 2;
    T next[32];
    if (warp > owner) {
      GAUSSWEEP_UNROLL
      for (int k = 0; k < 32; ++k) {
        const int column = first + 32 + k;
        next[k] = row_of_l[(column < rows ? column : rows - 1) * ldl];
      }
    }
    asm volatile("" ::: "memory");  // keeps the loads above before the substitution
    if (warp == owner) {
      GAUSSWEEP_UNROLL
      for (int k = 0; k < 31; ++k) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < Columns; ++c)
          x[c] =
              std::fma(factor[k], __shfl_sync(0xffffffffu, x[c], k), x[c]);  // factor[k] is 0 for k >= lane
      }
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; ++c) solved[buffer_index][lane][c] = x[c];
    }
    __syncthreads();
    if (warp > owner) {
      GAUSSWEEP_UNROLL
      for (int k = 0; k < 32; ++k) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < Columns; ++c) x[c] = std::fma(factor[k], solved[buffer_index][k][c], x[c]);
      }
    }
    GAUSSWEEP_UNROLL
    for (int k = 0; k < 32; ++k) {
      // The next owner keeps only the elements left of the diagonal.
      factor[k] = inside && (warp > owner + 1 || k < lane) ? -next[k] : T(0);
    }
  }
  GAUSSWEEP_UNROLL
  for (int c = 0; c < Columns; ++c) {
    if (inside && begin + c < columns) b[row_stride * row + (begin + c) * ldb] = x[c];
  }
}

/// Computes B = L^-1 B like `substitute`, in double on tensor cores. A block takes 8 * Tiles columns of B; a
/// warp keeps 32 rows of these in registers, as 8 x 8 tiles. Each diagonal block of 32 rows is solved with
/// the inverses of its diagonal tiles (triangle_tiles.cuh), 8 columns per warp.
/// @tparam Corrects true: the solution with a diagonal block may get one refinement step. It does if a column
/// sum of one of its tiles, or of the tile's inverse, exceeds `max_column_sum` (needs_correction)
/// @param scale see RowOrder
/// @pre blockDim.x >= rows, a multiple of 32
template <int Tiles, RowOrder Order, bool Corrects>
__global__ void __launch_bounds__(max_solve_rows_per_launch)
    solve_on_tensor_cores(const double* l, std::int64_t ldl, int rows, double* b, std::int64_t ldb,
                          int columns, const double* scale, double max_column_sum) {
#if GAUSSWEEP_CLUSTERS
  constexpr int row_stride = Order == RowOrder::reversed ? -1 : 1;
  constexpr bool is_scaled = Order != RowOrder::plain;
  constexpr int width = 8 * Tiles;
  constexpr int stride = Tiles % 2 == 0 ? width + 2 : width + 10;  // 2 mod 16: no bank conflicts
  __shared__ double solved[32 * stride];  // the current 32 rows of B, then of the solution
  // The diagonal blocks of the current 32 rows and of the next, prepared while the current rows are solved.
  __shared__ double triangles[2][32 * triangle_stride];
  __shared__ double inverses[2][inverses_size];
  __shared__ bool corrects[2];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp = thread / 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int tile_row = lane / 4;     // the lane's row of a tile
  const int tile_column = lane % 4;  // the lane's pair of columns of a tile
  const int begin = static_cast<int>(blockIdx.x) * width;
  // Loads are unconditional with clamped indices, because a predicated load would stall the next one.
  const auto load_triangle = [&](double(&element)[32]) {
    const int row = min(warp * 32 + lane, rows - 1);
    GAUSSWEEP_UNROLL
    for (int k = 0; k < 32; ++k) element[k] = l[row + min(warp * 32 + k, rows - 1) * ldl];
  };
  const auto store_triangle = [&](const double(&element)[32]) {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < 32; ++k) {
      triangles[warp % 2][k * triangle_stride + lane] =
          k < lane && warp * 32 + lane < rows ? element[k] : 0.0;
    }
    __syncwarp();
    invert_diagonal_tiles(triangles[warp % 2], inverses[warp % 2]);
    if constexpr (Corrects) {
      const bool needed = needs_correction(triangles[warp % 2], inverses[warp % 2], max_column_sum);
      if (lane == 0) corrects[warp % 2] = needed;
    }
  };
  double x[4][Tiles][2];  // the lane's elements of B: [tile row][tile column][column of the pair]
  GAUSSWEEP_UNROLL
  for (int i = 0; i < 4; ++i) {
    GAUSSWEEP_UNROLL
    for (int t = 0; t < Tiles; ++t) {
      GAUSSWEEP_UNROLL
      for (int q = 0; q < 2; ++q) {
        const int row = warp * 32 + i * 8 + tile_row;
        const int column = begin + t * 8 + tile_column * 2 + q;
        x[i][t][q] = row < rows && column < columns ? b[row_stride * row + column * ldb] : 0.0;
        if (is_scaled && row < rows) x[i][t][q] *= scale[row_stride * row];
      }
    }
  }
  double element[32];  // the prefetched row of the diagonal block of this warp's rows
  if (warp == 0) {
    load_triangle(element);
    store_triangle(element);
  }
  GAUSSWEEP_ROLLED
  for (int first = 0; first < rows; first += 32) {
    const int owner = first / 32;  // the warp whose rows are solved in this iteration
    // The negated elements of L in the lane's row of tile row i: element k is in column first + k / 2 * 8 +
    // tile_column * 2 + k % 2.
    double factor[4][8];
    if (warp > owner) {
      GAUSSWEEP_UNROLL
      for (int i = 0; i < 4; ++i) {
        GAUSSWEEP_UNROLL
        for (int k = 0; k < 8; ++k) {
          const int row =
              min(warp * 32 + i * 8 + tile_row, rows - 1);  // rows beyond the matrix are not stored
          factor[i][k] = -l[row + (first + k / 2 * 8 + tile_column * 2 + k % 2) * ldl];
        }
      }
    }
    if (warp == owner) {
      GAUSSWEEP_UNROLL
      for (int i = 0; i < 4; ++i) {
        GAUSSWEEP_UNROLL
        for (int t = 0; t < Tiles; ++t) {
          GAUSSWEEP_UNROLL
          for (int q = 0; q < 2; ++q) {
            solved[(i * 8 + tile_row) * stride + t * 8 + tile_column * 2 + q] = x[i][t][q];
          }
        }
      }
    }
    if (warp == owner + 1) load_triangle(element);
    __syncthreads();  // `solved` has the right-hand sides
    if (warp == owner + 1) store_triangle(element);
    // A warp solves for 8 columns, a tile, at a time. Tiles are numbered from the owner to earlier warps (mod
    // `warps`), because earlier warps have no update to compute.
    for (int tile = owner >= warp ? owner - warp : owner - warp + warps; tile < Tiles; tile += warps) {
      if (Corrects && corrects[owner % 2]) {
        solve_tile_by_inverses</*Corrected=*/true>(triangles[owner % 2], inverses[owner % 2],
                                                   solved + tile * 8, stride);
      } else {
        solve_tile_by_inverses(triangles[owner % 2], inverses[owner % 2], solved + tile * 8, stride);
      }
    }
    __syncthreads();  // `solved` has the solution
    if (warp == owner) {
      const int row = first + lane;
      for (int c = 0; c < width && begin + c < columns; ++c) {
        if (row < rows) b[row_stride * row + (begin + c) * ldb] = solved[lane * stride + c];
      }
    }
    if (warp > owner) {
      GAUSSWEEP_UNROLL
      for (int q = 0; q < 4; ++q) {
        GAUSSWEEP_UNROLL
        for (int t = 0; t < Tiles; ++t) {
          const double* const fragment = solved + (q * 8 + tile_column * 2) * stride + t * 8 + tile_row;
          const double solved_b[2] = {fragment[0], fragment[stride]};
          GAUSSWEEP_UNROLL
          for (int i = 0; i < 4; i += 2) {
            const double a[4] = {factor[i][2 * q], factor[i + 1][2 * q], factor[i][2 * q + 1],
                                 factor[i + 1][2 * q + 1]};
            double d[4] = {x[i][t][0], x[i][t][1], x[i + 1][t][0], x[i + 1][t][1]};
            multiply_16x8(d, a, solved_b);
            x[i][t][0] = d[0];
            x[i][t][1] = d[1];
            x[i + 1][t][0] = d[2];
            x[i + 1][t][1] = d[3];
          }
        }
      }
    }
    __syncthreads();
  }
#else
  __trap();  // never runs: the callers require compute capability 9.0
#endif
}

/// Launches the solve B = L^-1 B for a unit lower triangular L of at most 256 rows: in double
/// solve_on_tensor_cores, in float `substitute`. A thread block takes `Columns` columns. `Corrects` and
/// `max_column_sum` have an effect only in double.
template <RowOrder Order, bool Corrects, int Columns, class T>
void launch_solve(Context& context, const T* l, std::int64_t ldl, int rows, T* b, std::int64_t ldb,
                  int columns, const T* scale, double max_column_sum = HUGE_VAL) {
  const dim3 grid(static_cast<unsigned>((columns + Columns - 1) / Columns));
  const dim3 block(static_cast<unsigned>((rows + 31) / 32 * 32));
  if constexpr (std::is_same_v<T, double>) {
    simt::launch(context, solve_on_tensor_cores<Columns / 8, Order, Corrects>, grid, block, 0, l, ldl, rows,
                 b, ldb, columns, scale, max_column_sum);
  } else {
    simt::launch(context, substitute<T, Columns, Order>, grid, block, 0, l, ldl, rows, b, ldb, columns,
                 /*invert=*/false, scale);
  }
}
/// Chooses the number of columns per thread block and launches the solve B = L^-1 B.
/// @tparam Corrects as for solve_on_tensor_cores; by default true if B is scaled. L is then a triangle whose
/// rows were divided by the diagonal, and may have elements above 1
/// @param max_column_sum as for solve_on_tensor_cores
template <RowOrder Order = RowOrder::plain, bool Corrects = Order != RowOrder::plain, class T>
void solve_in_one_launch(Context& context, const T* l, std::int64_t ldl, int rows, T* b, std::int64_t ldb,
                         int columns, const T* scale = nullptr, double max_column_sum = HUGE_VAL) {
  context.stage("solve");
  // With few columns, a block takes fewer of them, so that there are enough blocks for all multiprocessors.
  if (columns <= 1024)
    return launch_solve<Order, Corrects, 8>(context, l, ldl, rows, b, ldb, columns, scale, max_column_sum);
  launch_solve<Order, Corrects, 32>(context, l, ldl, rows, b, ldb, columns, scale, max_column_sum);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
