#pragma once
/// Device functions with which the kernel that factors a panel (cluster_panel.cuh) first applies the previous
/// panel to the other columns.
///
/// The update of a column right of the previous panel has three parts. These are row exchanges, a
/// substitution in the previous panel's rows, and a product with the previous panel's L. The first cluster of
/// the launch applies the update to the columns of the new panel while it loads them into registers. Other
/// clusters of the same launch apply the update to the columns further right. No cluster waits for another:
/// each reads only data from before the launch and rows that it wrote itself.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/getrf/panel_messages.cuh"
#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/getrf/workspaces.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

using gaussweep::lu::levels;  // recursion levels of RecursiveLu (recursive_lu.cuh)

constexpr int max_panel_columns = 32;

/// A panel's row exchanges as one permutation, in addition to LAPACK's pivots, so that all rows can move at
/// the same time. The panel has `cols` columns; its first row is row `first` of the matrix. Rows are counted
/// from 0 in the matrix, and 0 <= t < cols.
struct RowPermutation {
  int* source;  ///< row first + t receives the content of row source[t]
  int* target;  ///< the content of row first + t moves to row target[t]; -1 if it stays in these `cols` rows
};

/// The arguments of the update by the previous panel. The previous panel's columns end where the panel of
/// this launch begins. A column block is a range of columns that is factored panel by panel, at the bottom of
/// the recursion (recursive_lu.cuh).
struct PreviousPanelUpdate {
  int cols;                  ///< columns of the previous panel; 0 if there is none
  int columns_left;          ///< columns of the column block left of the previous panel
  int columns_right;         ///< columns of the column block right of this launch's panel
  RowPermutation exchanges;  ///< the previous panel's row exchanges
  /// Two permutations of `order` row indices per recursion level. Each panel exchanges their elements like
  /// those of a column of the matrix. A permutation thus accumulates the exchanges of all panels of a part of
  /// the recursion. RecursiveLu::exchange then applies it to the columns outside the part, in one pass.
  /// Adjacent parts of a level use different permutations, so that one can be reset while the other is in
  /// use.
  int* source_rows;
  int order;          ///< elements of a permutation: the order of the matrix
  unsigned parities;  ///< bit l selects the permutation in use on level l
};

namespace detail {

/// Applies a panel's exchanges to `Columns` columns per warp; a null column is skipped. Lane t passes
/// source[t] and target[t], or -1, and `own_row` = first + t. Returns the new content of row `own_row` in
/// `top` and does not store it. Reads all values before it writes any.
template <class U, int Columns>
__device__ __forceinline__ void exchange_columns(U (&top)[Columns], U* const (&column)[Columns], int source,
                                                 int target, int own_row) {
  U outgoing[Columns];
  GAUSSWEEP_UNROLL
  for (int i = 0; i < Columns; ++i) {
    const bool inside = column[i] != nullptr;
    top[i] = inside && source >= 0 ? column[i][source] : U(0);
    outgoing[i] = inside && target >= 0 ? column[i][own_row] : U(0);
  }
  __syncwarp();
  GAUSSWEEP_UNROLL
  for (int i = 0; i < Columns; ++i) {
    if (column[i] != nullptr && target >= 0) column[i][target] = outgoing[i];
  }
}

/// Applies a panel's exchanges like exchange_columns, and also stores `top`.
template <class U, int Columns>
__device__ __forceinline__ void exchange_and_store(U* const (&column)[Columns], int source, int target,
                                                   int own_row) {
  U top[Columns];
  exchange_columns<U, Columns>(top, column, source, target, own_row);
  GAUSSWEEP_UNROLL
  for (int i = 0; i < Columns; ++i) {
    if (column[i] != nullptr && source >= 0) column[i][own_row] = top[i];
  }
}

/// Stores in `column` the permutations that levels 4 * group to 4 * group + 3 currently use.
__device__ __forceinline__ void permutations_of(int* (&column)[4], int group, int* source_rows, int order,
                                                unsigned parities) {
  GAUSSWEEP_UNROLL
  for (int i = 0; i < 4; ++i) {
    const int level = group * 4 + i;
    column[i] = source_rows + (2 * level + (parities >> level & 1u)) * static_cast<std::int64_t>(order);
  }
}

/// Solves with a unit lower triangle of 32 rows for eight columns of `x`, by one warp. `triangle` is
/// column-major, `x` row-major with leading dimension `stride`; both are in shared memory. Four lanes share a
/// column of x; each of them has the rows `first_row`, `first_row` + 4, ... . The triangle's columns from
/// `columns` on are 0.
template <class T>
__device__ __forceinline__ void solve_tile(const T* triangle, T* x, int stride, int columns) {
  const int column = static_cast<int>(threadIdx.x) % 8;
  const int first_row = static_cast<int>(threadIdx.x) % 32 / 8;
  T y[8];
  GAUSSWEEP_UNROLL
  for (int r = 0; r < 8; ++r) y[r] = x[(r * 4 + first_row) * stride + column];
  GAUSSWEEP_UNROLL
  for (int k = 0; k < 31; ++k) {
    if (k % 4 == 0 && k >= columns) break;  // tested once per four columns, because further columns are 0
    const T solved = __shfl_sync(0xffffffffu, y[k / 4], k % 4 * 8 + column);
    GAUSSWEEP_UNROLL
    for (int r = k / 4; r < 8; ++r) {
      const T l = triangle[k * 32 + r * 4 + first_row];
      if (r > k / 4 || first_row > k % 4) y[r] = std::fma(-l, solved, y[r]);
    }
  }
  GAUSSWEEP_UNROLL
  for (int r = 0; r < 8; ++r) x[(r * 4 + first_row) * stride + column] = y[r];
}

/// Leading dimension of the rows of U in shared memory: at least the eight columns of solve_tile. A padding
/// of 16 bytes makes bank conflicts rare.
template <class T, int Columns>
constexpr int upper_stride = (Columns < 8 ? 8 : Columns) + 16 / static_cast<int>(sizeof(T));

/// Leading dimension of the previous panel's triangle in shared memory.
template <class T>
constexpr int panel_triangle_stride = std::is_same_v<T, double> ? triangle_stride : max_panel_columns;

/// Elements of shared memory that a warp needs for substitution and product; at least one.
template <class T>
constexpr int panel_scratch = std::is_same_v<T, double> ? std::max(inverses_size, staging_size) : 1;

#if GAUSSWEEP_CLUSTERS

/// Returns the row whose content the previous panel's exchanges move to `row`. Rows are relative to the first
/// row of the panel of this launch; the previous panel's rows are negative. The lanes of a warp query 32
/// consecutive rows (the window). `displaced_to` of lane t: the row to which the previous panel's row t
/// moves, negative if it stays in the previous panel. Only such displaced rows enter the window.
__device__ __forceinline__ int displaced_from(int row, int lane, int displaced_to, int update_cols) {
  const int begin = row - lane;
  // Bit t: row t of the previous panel moves to a row of the window.
  unsigned in_window = __ballot_sync(0xffffffffu, displaced_to >= begin && displaced_to < begin + 32);
  int from = row;
  while (in_window != 0) {
    const int t = __ffs(static_cast<int>(in_window)) - 1;
    in_window &= in_window - 1;
    if (__shfl_sync(0xffffffffu, displaced_to, t) == row) from = t - update_cols;
  }
  return from;
}

/// Applies the previous panel's exchanges to the permutations and to the column block's columns left of that
/// panel. `warps` warps split the work; the calling warp has index `warp`. `column`: row 0 of the first
/// column of this launch's panel.
template <class T>
__device__ __forceinline__ void exchange_other_columns(T* column, std::int64_t lda, int first,
                                                       const PreviousPanelUpdate& update, int warp,
                                                       int warps) {
  constexpr int columns_per_warp = 4;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const bool inside = lane < update.cols;
  const int source = inside ? update.exchanges.source[lane] : -1;
  const int target = inside ? update.exchanges.target[lane] : -1;
  const int own_row = first - update.cols + lane;
  T* const block = column - (update.cols + update.columns_left) * lda;  // first column of the column block
  // A work item is four permutations, or four columns of the column block.
  const int items =
      levels / columns_per_warp + (update.columns_left + columns_per_warp - 1) / columns_per_warp;
  for (int item = warp; item < items; item += warps) {
    if (item < levels / columns_per_warp) {
      int* permutation[columns_per_warp];
      permutations_of(permutation, item, update.source_rows, update.order, update.parities);
      exchange_and_store<int, columns_per_warp>(permutation, source, target, own_row);
    } else {
      const int begin = (item - levels / columns_per_warp) * columns_per_warp;
      T* left[columns_per_warp];
      GAUSSWEEP_UNROLL
      for (int i = 0; i < columns_per_warp; ++i)
        left[i] = begin + i < update.columns_left ? block + (begin + i) * lda : nullptr;
      exchange_and_store<T, columns_per_warp>(left, source, target, own_row);
    }
  }
}

/// Loads the operands of the substitution in the previous panel's rows. The panel's unit lower triangle goes
/// into `triangle`. The content of the panel's rows after the exchanges goes into `upper`, for the `cols`
/// columns at `a`. The triangle is column-major with 32 rows, with zeros on and above the diagonal and beyond
/// its columns. `a` and `panel` point at row `first`, where the launch's panel begins.
template <int Columns, int Threads, class T>
__device__ __forceinline__ void load_upper(const T* a, const T* panel, std::int64_t lda, int first, int cols,
                                           const PreviousPanelUpdate& update, T* triangle, T* upper) {
  constexpr int warps = Threads / 32;
  constexpr int columns_per_warp = Columns > warps ? Columns / warps : 1;
  constexpr int triangle_columns = max_panel_columns / warps;
  static_assert(Columns % warps == 0 || Columns < warps, "warps share the columns evenly");
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = min(lane, update.cols - 1);
  const T* const source = a + (update.exchanges.source[row] - first);
  // The previous panel's diagonal block ends directly above and to the left of `panel`.
  const T* const l = panel - update.cols * lda - update.cols + row;
  // Loads are unconditional with clamped indices, because a predicated load would stall the next one.
  T factor[triangle_columns], value[columns_per_warp];
  const auto step = static_cast<unsigned>(lda);
  GAUSSWEEP_UNROLL
  for (int i = 0; i < triangle_columns; ++i) {
    factor[i] = l[static_cast<unsigned>(min(warp * triangle_columns + i, update.cols - 1)) * step];
  }
  GAUSSWEEP_UNROLL
  for (int i = 0; i < columns_per_warp; ++i) {
    value[i] = source[static_cast<unsigned>(min(warp * columns_per_warp + i, cols - 1)) * step];
  }
  GAUSSWEEP_UNROLL
  for (int i = 0; i < triangle_columns; ++i) {
    const int k = warp * triangle_columns + i;
    triangle[k * panel_triangle_stride<T> + lane] = k < lane && lane < update.cols ? factor[i] : T(0);
  }
  GAUSSWEEP_UNROLL
  for (int i = 0; i < columns_per_warp; ++i) {
    const int c = warp * columns_per_warp + i;
    if (c < Columns)
      upper[lane * upper_stride<T, Columns> + c] = c < cols && lane < update.cols ? value[i] : T(0);
  }
}

/// Computes v -= L U without tensor cores, where v holds a thread's rows. A thread reads rows `row`, `row` +
/// `step`, … of L from global memory, at most row `rows` - 1. `l` points to L of the previous panel, from the
/// current panel's first row on. The constructor starts the first loads of L (prologue).
template <int Columns, int RowsPerThread, class T>
class ProductOnFmaUnits {
 public:
  /// `k_count`: columns of L, a multiple of k_step.
  __device__ __forceinline__ ProductOnFmaUnits(int row, int step, int rows, const T* l, std::int64_t lda,
                                               int k_count)
      : row_(row), step_(step), rows_(rows), k_count_(k_count), l_(l), lda_(lda) {
    load_columns(0);
  }
  /// `upper`: U in shared memory.
  __device__ __forceinline__ void subtract(T (&v)[RowsPerThread][Columns], const T* upper) {
    constexpr int pack = 16 / sizeof(T);
    GAUSSWEEP_ROLLED
    for (int begin = 0; begin < k_count_; begin += k_step) {
      T factor[RowsPerThread][k_step];
      GAUSSWEEP_UNROLL
      for (int k = 0; k < k_step; ++k) {
        GAUSSWEEP_UNROLL
        for (int s = 0; s < RowsPerThread; ++s) factor[s][k] = -next_[s][k];
      }
      // Prefetches the next columns. The last iteration loads its own columns again, which avoids a branch.
      load_columns(begin + k_step < k_count_ ? begin + k_step : begin);
      // Adds the sum of the k_step terms to v: single terms much smaller than v would be rounded away.
      const auto row_bytes = static_cast<unsigned>(upper_stride<T, Columns> * sizeof(T));
      const unsigned u_rows = simt::shared_address(upper) + static_cast<unsigned>(begin) * row_bytes;
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; c += pack) {
        T sum[RowsPerThread][pack] = {};
        GAUSSWEEP_UNROLL
        for (int k = 0; k < k_step; ++k) {
          T u[pack];
          simt::load_pack(
              u_rows + static_cast<unsigned>(k) * row_bytes + static_cast<unsigned>(c * sizeof(T)), u);
          GAUSSWEEP_UNROLL
          for (int p = 0; p < pack; ++p) {
            GAUSSWEEP_UNROLL
            for (int s = 0; s < RowsPerThread; ++s) sum[s][p] = std::fma(factor[s][k], u[p], sum[s][p]);
          }
        }
        GAUSSWEEP_UNROLL
        for (int p = 0; p < pack; ++p) {
          GAUSSWEEP_UNROLL
          for (int s = 0; s < RowsPerThread; ++s) v[s][c + p] += sum[s][p];
        }
      }
    }
  }

 private:
  /// Columns of L per iteration. All their elements are prefetched in registers, which limits the number.
  static constexpr int k_step = RowsPerThread <= 4 ? 8 : RowsPerThread == 8 ? 2 : 1;
  __device__ __forceinline__ void load_columns(int begin) {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < k_step; ++k) {
      const T* const column = l_ + (begin + k) * lda_;
      GAUSSWEEP_UNROLL
      for (int s = 0; s < RowsPerThread; ++s) next_[s][k] = column[min(row_ + s * step_, rows_ - 1)];
    }
  }

  int row_, step_, rows_, k_count_;
  const T* l_;
  std::int64_t lda_;
  T next_[RowsPerThread][k_step];  ///< the prefetched elements of L
};

/// True if tensor cores compute the product with L: in double with at least two tiles of 8 columns.
template <class T, int Columns>
constexpr bool uses_tensor_cores = std::is_same_v<T, double>&& Columns >= 16;
template <class T, int Columns, int RowsPerThread>
using PanelProduct =
    std::conditional_t<uses_tensor_cores<T, Columns>,
                       ProductOnTensorCores<Columns, RowsPerThread, upper_stride<T, Columns>>,
                       ProductOnFmaUnits<Columns, RowsPerThread, T>>;
/// Computes the rows of U in `upper` by substitution with `triangle`; each warp solves for 8 columns at a
/// time. `scratch`: panel_scratch elements of shared memory per warp.
template <int Columns, int Threads, class T>
__device__ __forceinline__ void solve_upper(const T* triangle, T* upper, T* scratch, int update_cols) {
  constexpr int stride = upper_stride<T, Columns>;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if constexpr (std::is_same_v<T, double>) {
    if (warp * 8 < Columns) invert_diagonal_tiles(triangle, scratch);
  }
  for (int c = warp * 8; c < Columns; c += Threads / 32 * 8) {
    if constexpr (std::is_same_v<T, double>) {
      solve_tile_by_inverses(triangle, scratch, upper + c, stride);
    } else {
      solve_tile(triangle, upper + c, stride, update_cols);
    }
  }
}

#endif

}  // namespace detail
}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
