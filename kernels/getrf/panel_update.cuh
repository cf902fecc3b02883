#pragma once
/// What the panel before leaves to do in its block of columns, as the kernel that factors the next panel does
/// it.
///
/// A panel's row exchanges, the substitution in its rows and the product with its L are due in every column
/// of the block beyond it. The next panel needs them in its own columns only, and takes them on its way into
/// registers. Other clusters of the same launch do the same for the columns further on while it is factored.
/// None of them waits for another: all that they read was there before the launch, but for the rows that they
/// write themselves.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/getrf/panel_messages.cuh"
#include "kernels/getrf/recursive_workspace.hpp"
#include "kernels/getrf/triangle_tiles.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

using gaussweep::lu::levels;

constexpr int widest_panel = 32;

/// What a panel says of its row exchanges, beside LAPACK's pivots: rows of the matrix, from 0. Row
/// `first + t` is overwritten by what row `source[t]` held. What it held itself goes to row `target[t]`,
/// where that lies outside of the panel's first `cols` rows (else -1).
struct Exchanges {
  int* source;
  int* target;
};

/// The panel before, whose columns end where those of the panel of the launch begin. `rows_at`: the
/// permutations that are exchanged as columns are, a pair a level, `order` apart, of which `parities` says
/// the one in use.
struct Update {
  int cols;    ///< of it; 0: there is none
  int before;  ///< columns of the block left of it
  int beyond;  ///< columns of the block right of the panel of the launch
  Exchanges exchanges;
  int* rows_at;
  int order;
  unsigned parities;
};

namespace detail {

/// The exchanges of a panel, for 4 columns a warp. Every value is read before any is written.
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

/// The same, the rows that come to the top stored too.
template <class U, int Columns>
__device__ __forceinline__ void exchange_whole(U* const (&column)[Columns], int source, int target,
                                               int own_row) {
  U top[Columns];
  exchange_columns<U, Columns>(top, column, source, target, own_row);
  GAUSSWEEP_UNROLL
  for (int i = 0; i < Columns; ++i) {
    if (column[i] != nullptr && source >= 0) column[i][own_row] = top[i];
  }
}

/// The pair's permutation in use, of four levels from 4 `group` on.
__device__ __forceinline__ void permutations_of(int* (&column)[4], int group, int* rows_at, int order,
                                                unsigned parities) {
  GAUSSWEEP_UNROLL
  for (int i = 0; i < 4; ++i) {
    const int level = group * 4 + i;
    column[i] = rows_at + (2 * level + (parities >> level & 1u)) * static_cast<std::int64_t>(order);
  }
}

/// Solves with a unit lower triangle of 32 rows in shared memory (`triangle`, column by column) in eight
/// columns of `x` (by rows, `stride` apart). One warp does it: a lane has every fourth row of a column. Of
/// the triangle the first `columns` matter.
template <class T>
__device__ __forceinline__ void solve_tile(const T* triangle, T* x, int stride, int columns) {
  const int column = static_cast<int>(threadIdx.x) % 8;
  const int part = static_cast<int>(threadIdx.x) % 32 / 8;
  T y[8];
  GAUSSWEEP_UNROLL
  for (int r = 0; r < 8; ++r) y[r] = x[(r * 4 + part) * stride + column];
  GAUSSWEEP_UNROLL
  for (int k = 0; k < 31; ++k) {
    if (k % 4 == 0 && k >= columns) break;
    const T above = __shfl_sync(0xffffffffu, y[k / 4], k % 4 * 8 + column);
    GAUSSWEEP_UNROLL
    for (int r = k / 4; r < 8; ++r) {
      const T l = triangle[k * 32 + r * 4 + part];
      if (r > k / 4 || part > k % 4) y[r] = std::fma(-l, above, y[r]);
    }
  }
  GAUSSWEEP_UNROLL
  for (int r = 0; r < 8; ++r) x[(r * 4 + part) * stride + column] = y[r];
}

/// Elements between two rows of U in shared memory: no two lanes that read or store there meet in a bank
/// often.
template <class T, int Columns>
constexpr int upper_stride = (Columns < 8 ? 8 : Columns) + 16 / static_cast<int>(sizeof(T));

/// Elements between two columns of the triangle of the panel before in shared memory.
template <class T>
constexpr int panel_triangle_stride = std::is_same_v<T, double> ? triangle_stride : widest_panel;

/// Elements of shared memory that a warp wants for itself between substitution and product; at least one.
template <class T>
constexpr int panel_scratch = std::is_same_v<T, double> ? std::max(inverses_size, handed_size) : 1;

#if GAUSSWEEP_CLUSTERS

/// From which row the exchanges of the panel before brought what row `row` has now, both from the panel's
/// first row on. A warp asks for 32 rows in a row; lane t knows where row t of the panel before went to
/// (`displaced_to`, negative: nowhere below).
__device__ __forceinline__ int displaced_from(int row, int lane, int displaced_to, int update_cols) {
  const int begin = row - lane;
  unsigned here = __ballot_sync(0xffffffffu, displaced_to >= begin && displaced_to < begin + 32);
  int from = row;
  while (here != 0) {
    const int t = __ffs(static_cast<int>(here)) - 1;
    here &= here - 1;
    if (__shfl_sync(0xffffffffu, displaced_to, t) == row) from = t - update_cols;
  }
  return from;
}

/// The exchanges of the panel before in the permutations and in the columns left of it: `warps` warps share
/// them. `column`: of the matrix, where the panel of the launch begins.
template <class T>
__device__ __forceinline__ void exchange_elsewhere(T* column, std::int64_t lda, int first,
                                                   const Update& update, int warp, int warps) {
  constexpr int each = 4;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const bool inside = lane < update.cols;
  const int source = inside ? update.exchanges.source[lane] : -1;
  const int target = inside ? update.exchanges.target[lane] : -1;
  const int own_row = first - update.cols + lane;
  T* const block = column - (update.cols + update.before) * lda;
  const int tasks = levels / each + (update.before + each - 1) / each;
  for (int task = warp; task < tasks; task += warps) {
    if (task < levels / each) {
      int* permutation[each];
      permutations_of(permutation, task, update.rows_at, update.order, update.parities);
      exchange_whole<int, each>(permutation, source, target, own_row);
    } else {
      const int begin = (task - levels / each) * each;
      T* left[each];
      GAUSSWEEP_UNROLL
      for (int i = 0; i < each; ++i)
        left[i] = begin + i < update.before ? block + (begin + i) * lda : nullptr;
      exchange_whole<T, each>(left, source, target, own_row);
    }
  }
}

/// Loads the unit lower triangle of the panel before into `triangle`, column by column with 32 rows each. It
/// has zeros on and above the diagonal and beyond its columns. What its rows hold in `cols` columns at `a`
/// after its exchanges goes into `upper`. `a` and `panel`: at row `first`, where the launch's panel begins.
template <int Columns, int Threads, class T>
__device__ __forceinline__ void load_upper(const T* a, const T* panel, std::int64_t lda, int first, int cols,
                                           const Update& update, T* triangle, T* upper) {
  constexpr int warps = Threads / 32;
  constexpr int each = Columns > warps ? Columns / warps : 1;
  constexpr int triangle_columns = widest_panel / warps;
  static_assert(Columns % warps == 0 || Columns < warps, "warps share the columns evenly");
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = min(lane, update.cols - 1);
  const T* const source = a + (update.exchanges.source[row] - first);
  const T* const l = panel - update.cols * lda - update.cols + row;
  // Loads are made whether needed or not, from where something is. A load under a condition of its own would
  // be waited for before the next one begins.
  T factor[triangle_columns], value[each];
  const auto step = static_cast<unsigned>(lda);
  GAUSSWEEP_UNROLL
  for (int i = 0; i < triangle_columns; ++i) {
    factor[i] = l[static_cast<unsigned>(min(warp * triangle_columns + i, update.cols - 1)) * step];
  }
  GAUSSWEEP_UNROLL
  for (int i = 0; i < each; ++i) {
    value[i] = source[static_cast<unsigned>(min(warp * each + i, cols - 1)) * step];
  }
  GAUSSWEEP_UNROLL
  for (int i = 0; i < triangle_columns; ++i) {
    const int k = warp * triangle_columns + i;
    triangle[k * panel_triangle_stride<T> + lane] = k < lane && lane < update.cols ? factor[i] : T(0);
  }
  GAUSSWEEP_UNROLL
  for (int i = 0; i < each; ++i) {
    const int c = warp * each + i;
    if (c < Columns)
      upper[lane * upper_stride<T, Columns> + c] = c < cols && lane < update.cols ? value[i] : T(0);
  }
}

/// v -= L U: rows `row`, `row` + `step`, … of L are read from memory, at most row `rows` - 1. `l`: the panel
/// before, from the panel's first row on. What is read first of L is under way from the beginning.
template <int Columns, int RowsPerThread, class T>
class ProductWithL {
 public:
  /// `inner`: columns of L, a multiple of those read at once.
  __device__ __forceinline__ ProductWithL(int row, int step, int rows, const T* l, std::int64_t lda,
                                          int inner)
      : row_(row), step_(step), rows_(rows), inner_(inner), l_(l), lda_(lda) {
    load_columns(0);
  }
  /// `upper`: U in shared memory.
  __device__ __forceinline__ void subtract(T (&v)[RowsPerThread][Columns], const T* upper) {
    constexpr int pack = 16 / sizeof(T);
    GAUSSWEEP_ROLLED
    for (int begin = 0; begin < inner_; begin += at_once) {
      T factor[RowsPerThread][at_once];
      GAUSSWEEP_UNROLL
      for (int k = 0; k < at_once; ++k) {
        GAUSSWEEP_UNROLL
        for (int s = 0; s < RowsPerThread; ++s) factor[s][k] = -next_[s][k];
      }
      load_columns(begin + at_once < inner_ ? begin + at_once : begin);
      // Summed up by itself, then subtracted: terms far smaller than the element would leave no trace in it.
      const auto row_bytes = static_cast<unsigned>(upper_stride<T, Columns> * sizeof(T));
      const unsigned u_rows = simt::shared_address(upper) + static_cast<unsigned>(begin) * row_bytes;
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; c += pack) {
        T sum[RowsPerThread][pack] = {};
        GAUSSWEEP_UNROLL
        for (int k = 0; k < at_once; ++k) {
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
  static constexpr int at_once = RowsPerThread <= 4 ? 8 : RowsPerThread == 8 ? 2 : 1;
  __device__ __forceinline__ void load_columns(int begin) {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < at_once; ++k) {
      const T* const column = l_ + (begin + k) * lda_;
      GAUSSWEEP_UNROLL
      for (int s = 0; s < RowsPerThread; ++s) next_[s][k] = column[min(row_ + s * step_, rows_ - 1)];
    }
  }

  int row_, step_, rows_, inner_;
  const T* l_;
  std::int64_t lda_;
  T next_[RowsPerThread][at_once];
};

/// Whether the product with L is made on tensor cores: in double, and where tiles of 8 columns are not mostly
/// empty.
template <class T, int Columns>
constexpr bool tensor_product = std::is_same_v<T, double>&& Columns >= 16;
template <class T, int Columns, int RowsPerThread>
using PanelProduct =
    std::conditional_t<tensor_product<T, Columns>,
                       ProductOnTensorCores<Columns, RowsPerThread, upper_stride<T, Columns>>,
                       ProductWithL<Columns, RowsPerThread, T>>;
/// The rows of U in `upper`, by substitution with `triangle`: warps share the columns, 8 at a time.
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
