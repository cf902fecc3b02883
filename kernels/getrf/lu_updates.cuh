#pragma once
/// What lies between the panels of an LU factorisation: row exchanges and triangular updates.

#include <cmath>
#include <cstdint>

#include "kernels/getrf/cluster_panel.cuh"
#include "kernels/getrf/copy_columns.cuh"
#include "kernels/getrf/recursive_workspace.hpp"
#include "kernels/getrf/window_panel.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

using gaussweep::lu::most_at_once;
using gaussweep::lu::solve_rows;

/// What follows a panel of `cols` columns whose first row in the matrix is `first`. It is done in a block of
/// `columns` columns that begins at `a`. The columns [0, before) and [after, columns) get the panel's
/// exchanges. In the latter the rows of the panel become those of U, by substitution with the panel's unit
/// lower triangle `l`. A warp takes 4 columns; a lane holds a row of the triangle. The first blocks keep the
/// permutations `rows_at` up to date (a pair a level, `order` apart), which are exchanged as columns are. The
/// last ones bring the panel's `beyond_count` rows at `beyond`, if any, to L, 32 each.
template <class T>
__global__ void __launch_bounds__(32)
    exchange_and_solve(T* a, std::int64_t lda, const T* l, int first, int cols, int before, int after,
                       int columns, Exchanges exchanges, int* rows_at, int order, unsigned parities,
                       T* beyond, int beyond_count) {
  constexpr int width = widest_panel;
  constexpr int each = 4;
  const int lane = static_cast<int>(threadIdx.x);
  const bool row_inside = lane < cols;
  const int source = row_inside ? exchanges.source[lane] : -1;
  const int target = row_inside ? exchanges.target[lane] : -1;
  const int own_row = first + lane;
  const int block = static_cast<int>(blockIdx.x) - levels / each;
  if (block < 0) {
    int* column[each];
    detail::permutations_of(column, static_cast<int>(blockIdx.x), rows_at, order, parities);
    detail::exchange_whole<int, each>(column, source, target, own_row);
    return;
  }
  const int blocks_before = (before + each - 1) / each;
  if constexpr (std::is_same_v<T, float>) {
    const int group = block - blocks_before - (columns - after + each - 1) / each;
    if (group >= 0) {
      solve_beyond(l, beyond + group * 32 + lane, lda, group * 32 + lane < beyond_count);
      return;
    }
  }
  const bool left = block < blocks_before;
  const int begin = left ? block * each : after + (block - blocks_before) * each;
  const int end = left ? before : columns;
  T row_of_l[width];
  GAUSSWEEP_UNROLL
  for (int k = 0; k < width; ++k) {
    row_of_l[k] = !left && row_inside && k < lane ? l[lane + k * lda] : T(0);
  }
  T top[each];
  T* column[each];
  GAUSSWEEP_UNROLL
  for (int i = 0; i < each; ++i) column[i] = begin + i < end ? a + (begin + i) * lda : nullptr;
  detail::exchange_columns<T, each>(top, column, source, target, own_row);
  if (!left) {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < width - 1; ++k) {
      if (k >= cols - 1) break;
      GAUSSWEEP_UNROLL
      for (int i = 0; i < each; ++i) {
        const T above = __shfl_sync(0xffffffffu, top[i], k);
        if (lane > k) top[i] = std::fma(-row_of_l[k], above, top[i]);
      }
    }
  }
  GAUSSWEEP_UNROLL
  for (int i = 0; i < each; ++i) {
    if (column[i] != nullptr && row_inside) column[i][own_row] = top[i];
  }
}

/// Row indices 0, 1, … in every permutation.
template <class Index>
__global__ void start_permutations(Index* rows_at, int order) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= order) return;
  GAUSSWEEP_UNROLL
  for (int i = 0; i < 2 * levels; ++i) rows_at[i * static_cast<std::int64_t>(order) + row] = row;
}

/// Puts a permutation back to where it began: the columns [first, first + count) had changed it.
__device__ __forceinline__ void restart(int* rows_at, const int* pivots, int first, int count) {
  for (int row = first + static_cast<int>(threadIdx.x); row < first + count;
       row += static_cast<int>(blockDim.x)) {
    rows_at[row] = row;
    rows_at[pivots[row] - 1] = pivots[row] - 1;
  }
}

/// Exchanges the rows that the columns [first, first + count) exchanged, count <= 512, in the `columns`
/// columns at `a`. A block takes `Each` columns, a thread one of the rows of the block and the one below that
/// it went to. `rows_at`: the permutation of these columns; `previous`: that of the `previous_count` columns
/// before them, which the next ones will use.
template <class T, int Each>
__global__ void __launch_bounds__(most_at_once)
    exchange_few(T* a, std::int64_t lda, int first, int count, int columns, const int* pivots,
                 const int* rows_at, int* previous, int previous_count) {
  const int t = static_cast<int>(threadIdx.x);
  const bool inside = t < count;
  const int row = first + t;
  const int source = inside ? rows_at[row] : row;
  int to = inside ? pivots[row] - 1 : 0;
  const int from = inside && to >= first + count ? rows_at[to] : -1;
  if (from < 0 || from == to) to = -1;
  if (blockIdx.x == 0) restart(previous, pivots, first - previous_count, previous_count);
  const int begin = static_cast<int>(blockIdx.x) * Each;
  const bool moves = inside && source != row;
  T up[Each], down[Each];
  GAUSSWEEP_UNROLL
  for (int i = 0; i < Each; ++i) {
    const T* const column = a + (begin + i) * lda;
    const bool column_inside = begin + i < columns;
    if (column_inside && moves) up[i] = column[source];
    if (column_inside && to >= 0) down[i] = column[from];
  }
  __syncthreads();
  GAUSSWEEP_UNROLL
  for (int i = 0; i < Each; ++i) {
    T* const column = a + (begin + i) * lda;
    const bool column_inside = begin + i < columns;
    if (column_inside && moves) column[row] = up[i];
    if (column_inside && to >= 0) column[to] = down[i];
  }
}

/// The same for many exchanges, where nearly every line of memory is touched anyway. A block copies all of a
/// column below row `first` to its own `rows` elements of `buffer` and back in the new order.
template <class T>
__global__ void __launch_bounds__(1024)
    exchange_many(T* a, std::int64_t lda, int first, int rows, int columns, const int* pivots,
                  const int* rows_at, int* previous, int previous_count, T* buffer) {
  if (blockIdx.x == 0) restart(previous, pivots, first - previous_count, previous_count);
  T* const copy = buffer + blockIdx.x * static_cast<std::int64_t>(rows);
  constexpr int at_once = 8;
  const int step = static_cast<int>(blockDim.x);
  for (int c = static_cast<int>(blockIdx.x); c < columns; c += static_cast<int>(gridDim.x)) {
    T* const column = a + c * lda + first;
    for (int begin = static_cast<int>(threadIdx.x); begin < rows; begin += at_once * step) {
      T value[at_once];
      GAUSSWEEP_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (begin + i * step < rows) value[i] = column[begin + i * step];
      }
      GAUSSWEEP_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (begin + i * step < rows) copy[begin + i * step] = value[i];
      }
    }
    __syncthreads();
    for (int begin = static_cast<int>(threadIdx.x); begin < rows; begin += at_once * step) {
      T value[at_once];
      int source[at_once];
      GAUSSWEEP_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const int row = begin + i * step;
        source[i] = row < rows ? rows_at[first + row] - first : row;
      }
      GAUSSWEEP_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (source[i] != begin + i * step) value[i] = copy[source[i]];
      }
      GAUSSWEEP_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (source[i] != begin + i * step) column[begin + i * step] = value[i];
      }
    }
    __syncthreads();
  }
}

/// B = L^-1 B, or L^-1 itself, for a unit lower triangular L of at most 256 rows, by substitution. A block
/// takes `Columns` columns, a thread a row of these in registers. Turned: B upside down, row r at b - r, and
/// multiplied by scale[-r] before.
/// @pre blockDim.x is the least multiple of 32 that is not less than rows
template <class T, int Columns, bool Turned = false>
__global__ void __launch_bounds__(solve_rows)
    substitute(const T* l, std::int64_t ldl, int rows, T* b, std::int64_t ldb, int columns, bool invert,
               const T* scale) {
  constexpr int down = Turned ? -1 : 1;
  // The warp that solves next may do so while others still read what was solved: two turns.
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
    x[c] = invert ? T(row == begin + c) : exists ? b[down * row + (begin + c) * ldb] : T(0);
    if (Turned && inside) x[c] *= scale[-row];
  }
  // Loads are made whether needed or not, from where something is. A load under a condition of its own would
  // be waited for before the next one begins.
  const T* const own_row = l + (inside ? row : rows - 1);
  T factor[32];  // of this row, for the 32 that are solved next
  GAUSSWEEP_UNROLL
  for (int k = 0; k < 32; ++k) factor[k] = own_row[(k < rows ? k : rows - 1) * ldl];
  GAUSSWEEP_UNROLL
  for (int k = 0; k < 32; ++k) factor[k] = inside && (warp > 0 || k < lane) ? -factor[k] : T(0);
  GAUSSWEEP_ROLLED
  for (int first = 0; first < rows; first += 32) {
    const int owner = first / 32;
    const int turn = owner % 2;
    T next[32];
    if (warp > owner) {
      GAUSSWEEP_UNROLL
      for (int k = 0; k < 32; ++k) {
        const int column = first + 32 + k;
        next[k] = own_row[(column < rows ? column : rows - 1) * ldl];
      }
    }
    asm volatile("" ::: "memory");
    if (warp == owner) {
      GAUSSWEEP_UNROLL
      for (int k = 0; k < 31; ++k) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < Columns; ++c)
          x[c] = std::fma(factor[k], __shfl_sync(0xffffffffu, x[c], k), x[c]);  // 0 from k = lane on
      }
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; ++c) solved[turn][lane][c] = x[c];
    }
    __syncthreads();
    if (warp > owner) {
      GAUSSWEEP_UNROLL
      for (int k = 0; k < 32; ++k) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < Columns; ++c) x[c] = std::fma(factor[k], solved[turn][k][c], x[c]);
      }
    }
    GAUSSWEEP_UNROLL
    for (int k = 0; k < 32; ++k) {
      factor[k] = inside && (warp > owner + 1 || k < lane) ? -next[k] : T(0);
    }
  }
  GAUSSWEEP_UNROLL
  for (int c = 0; c < Columns; ++c) {
    if (inside && begin + c < columns) b[down * row + (begin + c) * ldb] = x[c];
  }
}

/// The same as `substitute` in double, on tensor cores, of B alone. A block takes 8 `Tiles` columns of B, a
/// warp has 32 rows of these as 8 x 8 tiles. Triangles on the diagonal are solved by the inverses of their
/// tiles, a warp 8 columns; k = 2t + h as in triangle_tiles.cuh. `trusted`: the answers of larger inverses
/// are corrected, if the triangle is turned.
/// @pre blockDim.x >= rows, a multiple of 32
template <int Tiles, bool Turned = false>
__global__ void __launch_bounds__(solve_rows)
    solve_on_tensor_cores(const double* l, std::int64_t ldl, int rows, double* b, std::int64_t ldb,
                          int columns, const double* scale, double trusted) {
#if GAUSSWEEP_CLUSTERS
  constexpr int down = Turned ? -1 : 1;
  constexpr int width = 8 * Tiles;
  constexpr int stride = Tiles % 2 == 0 ? width + 2 : width + 10;  // 2 mod 16: no two lanes in one bank
  __shared__ double solved[32 * stride];
  // Of the rows that are solved next, made ready while others are solved.
  __shared__ double triangles[2][32 * triangle_stride];
  __shared__ double inverses[2][inverses_size];
  __shared__ bool corrects[2];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp = thread / 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int tile_row = lane / 4;
  const int tile_column = lane % 4;
  const int begin = static_cast<int>(blockIdx.x) * width;
  // Loads here are made whether needed or not, from where something is. A load under a condition of its own
  // would be waited for before the next one begins.
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
    if constexpr (Turned) {
      const bool needed = needs_correction(triangles[warp % 2], inverses[warp % 2], trusted);
      if (lane == 0) corrects[warp % 2] = needed;
    }
  };
  double x[4][Tiles][2];
  GAUSSWEEP_UNROLL
  for (int i = 0; i < 4; ++i) {
    GAUSSWEEP_UNROLL
    for (int t = 0; t < Tiles; ++t) {
      GAUSSWEEP_UNROLL
      for (int q = 0; q < 2; ++q) {
        const int row = warp * 32 + i * 8 + tile_row;
        const int column = begin + t * 8 + tile_column * 2 + q;
        x[i][t][q] = row < rows && column < columns ? b[down * row + column * ldb] : 0.0;
        if (Turned && row < rows) x[i][t][q] *= scale[-row];
      }
    }
  }
  double element[32];  // of the triangle of this warp's rows, when its turn is next
  if (warp == 0) {
    load_triangle(element);
    store_triangle(element);
  }
  GAUSSWEEP_ROLLED
  for (int first = 0; first < rows; first += 32) {
    const int owner = first / 32;
    double factor[4][8];
    if (warp > owner) {
      GAUSSWEEP_UNROLL
      for (int i = 0; i < 4; ++i) {
        GAUSSWEEP_UNROLL
        for (int k = 0; k < 8; ++k) {
          const int row = min(warp * 32 + i * 8 + tile_row, rows - 1);  // of one beyond nothing is kept
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
    __syncthreads();
    if (warp == owner + 1) store_triangle(element);
    // Warps that have no rows left solve, a tile each, the owner one of them.
    for (int tile = owner >= warp ? owner - warp : owner - warp + warps; tile < Tiles; tile += warps) {
      if (Turned && corrects[owner % 2]) {
        solve_tile_by_inverses<true>(triangles[owner % 2], inverses[owner % 2], solved + tile * 8, stride);
      } else {
        solve_tile_by_inverses(triangles[owner % 2], inverses[owner % 2], solved + tile * 8, stride);
      }
    }
    __syncthreads();
    if (warp == owner) {
      const int row = first + lane;
      for (int c = 0; c < width && begin + c < columns; ++c) {
        if (row < rows) b[down * row + (begin + c) * ldb] = solved[lane * stride + c];
      }
    }
    if (warp > owner) {
      GAUSSWEEP_UNROLL
      for (int q = 0; q < 4; ++q) {
        GAUSSWEEP_UNROLL
        for (int t = 0; t < Tiles; ++t) {
          const double* const own = solved + (q * 8 + tile_column * 2) * stride + t * 8 + tile_row;
          const double above[2] = {own[0], own[stride]};
          GAUSSWEEP_UNROLL
          for (int i = 0; i < 4; i += 2) {
            const double a[4] = {factor[i][2 * q], factor[i + 1][2 * q], factor[i][2 * q + 1],
                                 factor[i + 1][2 * q + 1]};
            double d[4] = {x[i][t][0], x[i][t][1], x[i + 1][t][0], x[i + 1][t][1]};
            multiply_16x8(d, a, above);
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
  __trap();  // its rows ask for compute capability 9.0
#endif
}

/// B = L^-1 B for a unit lower triangular L of at most 256 rows, by either of these.
template <bool Turned, int Columns, class T>
void launch_solve(Context& context, const T* l, std::int64_t ldl, int rows, T* b, std::int64_t ldb,
                  int columns, const T* scale, double trusted = HUGE_VAL) {
  const dim3 grid(static_cast<unsigned>((columns + Columns - 1) / Columns));
  const dim3 block(static_cast<unsigned>((rows + 31) / 32 * 32));
  if constexpr (std::is_same_v<T, double>) {
    simt::launch(context, solve_on_tensor_cores<Columns / 8, Turned>, grid, block, 0, l, ldl, rows, b, ldb,
                 columns, scale, trusted);
  } else {
    simt::launch(context, substitute<T, Columns, Turned>, grid, block, 0, l, ldl, rows, b, ldb, columns,
                 false, scale);
  }
}
template <bool Turned = false, class T>
void solve_at_once(Context& context, const T* l, std::int64_t ldl, int rows, T* b, std::int64_t ldb,
                   int columns, const T* scale = nullptr, double trusted = HUGE_VAL) {
  context.stage("solve");
  // Few columns: few of them a block, so that there are blocks enough.
  if (columns <= 1024) return launch_solve<Turned, 8>(context, l, ldl, rows, b, ldb, columns, scale, trusted);
  launch_solve<Turned, 32>(context, l, ldl, rows, b, ldb, columns, scale, trusted);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
