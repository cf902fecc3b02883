#pragma once
/// Computes the inverses of small matrices in double from their LU factors: X = U^-1 L^-1 P.
///
/// The columns of X are independent: a warp computes 8 or 16 columns of U^-1 L^-1 by forward and back
/// substitution. P only moves each column to its final position when it is stored. *Squares* of 32 x 32
/// elements of L and U are staged in shared memory for all warps of a thread block. A *tile* has 8 x 8
/// elements.
///
/// Products D += A B of tiles use the tensor core fragments of triangle_tiles.cuh. A and D hold X transposed:
/// their rows are columns of X. B is a transposed tile of L or U, or of the inverse of a diagonal tile. Lane
/// 4 g + t (0 <= t < 4) therefore has rows 8i + 2t and 8i + 2t + 1 of X in column g, for every tile i.
/// Finished elements of X are a product's D, and later products need them as A. In the fragments of
/// triangle_tiles.cuh, a lane has the same elements of A as of D. The lane therefore stores its elements in a
/// part of shared memory that no other thread reads.
///
/// Solves with a diagonal tile multiply by the tile's inverse. The inverse of a tile of U may be large, so
/// that the product has large rounding errors. One refinement step therefore follows, which reduces the error
/// to that of substitution. Products may overflow before they cancel. Columns that are not finite are
/// therefore computed again by substitution with scaled rows of U.

#include <cmath>
#include <cstdint>

#include "kernels/getrf/factored_solve.cuh"
#include "kernels/getrf/square_iterator.cuh"
#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::columns {

constexpr int tile_order = 8;        ///< order of a tile, and columns of X per set (see ColumnSplit)
constexpr int tiles_per_square = 4;  ///< tiles in a row or column of a square
constexpr int square_order = tile_order * tiles_per_square;  ///< rows and columns of a square
/// The leading dimension of a square in shared memory, with which loads of fragments have no bank conflicts.
constexpr int pitch = lu::triangle_stride;
constexpr int square_size = square_order * pitch;
constexpr int pairs = square_order / 2;  ///< pairs of adjacent elements in a square's column

/// The work split: a warp computes `Sets` sets of eight columns of X, and a thread block has `Warps` warps.
/// While one square is used, `Prefetched` squares are being copied. With several sets, one product multiplies
/// the 16 columns of two sets, so their number is even.
template <int Sets, int Warps, int Prefetched>
struct ColumnSplit {
  static constexpr int sets = Sets, warps = Warps, prefetched = Prefetched, threads = 32 * Warps;
  static constexpr int columns = tile_order * Sets * Warps;
  static_assert(Sets == 1 || Sets % 2 == 0, "products of 16 rows have two sets");
  static_assert(square_order * pairs % threads == 0, "all threads copy the same number of pairs");

  /// Returns the shared memory of a thread block: the squares' buffers, the inverses of the diagonal tiles of
  /// L and of U, and `saved` elements. These are the finished elements of X that later squares need.
  static std::size_t shared_bytes(int n) {
    const int squares = (n + square_order - 1) / square_order,
              saved = squares > 1 ? squares * square_order * columns : 0;
    return static_cast<std::size_t>((Prefetched + 1) * square_size + 2 * lu::inverses_size + saved) *
           sizeof(double);
  }
};

using Batch = factored::Batch<double>;

/// Starts to copy two adjacent elements of a square. Both addresses are multiples of 16 bytes. Before compute
/// capability 8.0, which introduced asynchronous copies, the copy is synchronous.
__device__ __forceinline__ void copy_pair(double* shared, const double* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  shared[0] = global[0];
  shared[1] = global[1];
#else
  simt::copy_16_bytes(shared, global);
#endif
}

/// The columns of X that a thread block computes. @tparam Split a ColumnSplit
template <class Split>
class InverseColumns {
 public:
  __device__ InverseColumns(const Batch& batch, std::int64_t system, int first_column)
      : n_(batch.n),
        square_count_((batch.n + square_order - 1) / square_order),
        first_square_(first_column / square_order),
        column_(first_column + static_cast<int>(threadIdx.x) / 32 * tile_order * Split::sets),
        factors_(batch.factors + system * n_ * n_),
        pivot_rows_(batch.pivot_rows + system * n_),
        x_(batch.x + system * n_ * n_),
        is_singular_(batch.info[system] != 0),
        shared_(simt::dynamic_shared<double>()),
        is_aligned_(n_ % 2 == 0 && reinterpret_cast<std::uintptr_t>(batch.factors) % 16 == 0 &&
                    reinterpret_cast<std::uintptr_t>(batch.x) % 16 == 0) {
    GAUSSWEEP_UNROLL
    for (int s = 0; s < Split::sets; ++s) {
      const int column = column_ + tile_order * s + quad();
      target_columns_[s] = column < n_ ? pivot_rows_[column] : -1;
    }
  }

  /// Computes the columns. lu::SquareIterator visits the squares of L from the top down, then those of U from
  /// the bottom up. The squares pass through a ring of Split::prefetched + 1 buffers. `stage` is the index of
  /// the current square's buffer.
  __device__ void invert() {
    lu::SquareIterator next(first_square_, square_count_), current = next;
    GAUSSWEEP_UNROLL
    for (int buffer = 0; buffer < Split::prefetched; ++buffer) start_copies(next, buffer);
    GAUSSWEEP_ROLLED
    for (int stage = 0; !current.is_done(); current.advance()) {
      if (Split::prefetched == 0) {
        __syncthreads();  // all threads have used the previous square
        start_copies(next, /*stage=*/0);
      }
      simt::await_copy_groups<(Split::prefetched > 1 ? Split::prefetched - 1 : 0)>();
      __syncthreads();
      // The buffer before `stage` in the ring is free: all threads have used the previous square.
      if (Split::prefetched > 0) start_copies(next, stage == 0 ? Split::prefetched : stage - 1);
      process(current, shared_ + stage * square_size);
      stage = stage == Split::prefetched ? 0 : stage + 1;
    }
    if (!is_singular_) repair();
  }

 private:
  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  static __device__ __forceinline__ int quad() { return lane() / 4; }
  static __device__ __forceinline__ int lane_of_quad() { return lane() % 4; }

  /// Starts to copy the square at `position` to buffer `stage`, padded with an identity beyond n, and
  /// advances `position`.
  __device__ void start_copies(lu::SquareIterator& position, int stage) {
    if (!position.is_done()) {
      double* const shared_square = shared_ + stage * square_size;
      const int i0 = square_order * position.i(), j0 = square_order * position.j();
      const double* const global_square = factors_ + i0 + j0 * n_;
      // The thread copies the elements i and i + 1 of the columns j, j + step, ... of the square.
      const int i = static_cast<int>(threadIdx.x) % pairs * 2, j = static_cast<int>(threadIdx.x) / pairs;
      constexpr int step = Split::threads / pairs;
      if (is_aligned_ && i0 + square_order <= n_ && j0 + square_order <= n_) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < square_order; c += step)
          copy_pair(shared_square + i + (j + c) * pitch, global_square + i + (j + c) * n_);
      } else {
        GAUSSWEEP_ROLLED
        for (int c = j; c < square_order; c += step) {
          GAUSSWEEP_UNROLL
          for (int q = 0; q < 2; ++q) {
            const bool is_inside = i0 + i + q < n_ && j0 + c < n_, is_one = i0 + i + q == j0 + c;
            shared_square[i + q + c * pitch] = is_inside ? global_square[i + q + c * n_] : is_one ? 1.0 : 0.0;
          }
        }
      }
      position.advance();
    }
    simt::end_copy_group();
  }

  /// Performs the steps of both substitutions that use one square. In a diagonal square, the first warp
  /// inverts the diagonal tiles of L and the last warp those of U. The last square needs both.
  __device__ void process(const lu::SquareIterator& current, const double* square) {
    const bool is_diagonal = current.i() == current.j();
    if (current.begins_row()) load_row_of_squares(current);
    if (!is_diagonal) return subtract(current, square);
    // The order visits the last diagonal square once, for both the forward and the back substitution.
    const bool solves_upper = !current.is_forward() || current.is_last_row();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (current.is_forward() && warp == 0) lu::invert_diagonal_tiles(square, inverses(Triangle::l));
    if (solves_upper && warp == Split::warps - 1)
      invert_upper_tiles(current.i(), square, inverses(Triangle::u));
    __syncthreads();
    if (current.is_forward()) substitute_down(current.i(), square);
    if (solves_upper) substitute_up(current.i(), square);
    if (square_count_ > 1) store_negated(current.i());
  }

  /// Returns true if row `tile_index` of tiles has nonzero elements in the warp's columns of L^-1.
  __device__ __forceinline__ bool is_nonzero(int tile_index) const {
    return tile_index * tile_order >= column_;
  }
  /// Returns true if row `tile_index` of tiles begins within the matrix.
  __device__ __forceinline__ bool is_inside(int tile_index) const { return tile_index * tile_order < n_; }

  /// Initialises a_ with the right-hand sides in a row of squares: the identity for the solve with L, or L^-1
  /// for the solve with U.
  __device__ void load_row_of_squares(const lu::SquareIterator& current) {
    GAUSSWEEP_UNROLL
    for (int i = 0; i < tiles_per_square; ++i) {
      const int tile_index = tiles_per_square * current.i() + i;
      GAUSSWEEP_UNROLL
      for (int s = 0; s < Split::sets; ++s) {
        double* const elements = a_[i] + 2 * s;
        if (current.is_forward()) {
          const int row = tile_index * tile_order + 2 * lane_of_quad(),
                    column = column_ + tile_order * s + quad();
          elements[0] = row == column ? 1.0 : 0.0;
          elements[1] = row + 1 == column ? 1.0 : 0.0;
        } else if (is_nonzero(tile_index)) {
          lu::load_two(negated_elements(tile_index, s), elements[0], elements[1]);
          elements[0] = -elements[0];
          elements[1] = -elements[1];
        } else {
          elements[0] = elements[1] = 0;
        }
      }
    }
  }
  enum class Triangle { l, u };
  /// Returns the inverses of the diagonal tiles of L or U, in the layout of lu::invert_diagonal_tiles.
  __device__ __forceinline__ double* inverses(Triangle triangle) const {
    return shared_ + (Split::prefetched + 1) * square_size +
           (triangle == Triangle::u ? lu::inverses_size : 0);
  }
  /// Returns the address in shared memory of the thread's negated elements of a tile.
  __device__ __forceinline__ double* negated_elements(int tile_index, int s) const {
    return inverses(Triangle::u) + lu::inverses_size +
           ((tile_index * Split::sets + s) * Split::threads + static_cast<int>(threadIdx.x)) * 2;
  }
  /// Stores the finished elements of row `square` of squares, negated, for later products.
  __device__ void store_negated(int square) {
    GAUSSWEEP_UNROLL
    for (int i = 0; i < tiles_per_square; ++i) {
      GAUSSWEEP_UNROLL
      for (int s = 0; s < Split::sets; ++s)
        lu::store_two(negated_elements(tiles_per_square * square + i, s), -a_[i][2 * s], -a_[i][2 * s + 1]);
    }
  }

  using TileElements = double[2 * Split::sets];  ///< a thread's elements of a tile
  /// Computes d += a B, where B is one transposed tile of L or U; `a`, `b` and `d` are the thread's
  /// fragments.
  static __device__ __forceinline__ void multiply(TileElements& d, const TileElements& a,
                                                  const double (&b)[2]) {
    if constexpr (Split::sets == 1) {
      GAUSSWEEP_UNROLL
      for (int h = 0; h < 2; ++h) lu::multiply_8x8(d, a[h], b[h]);
    } else {
      GAUSSWEEP_UNROLL
      for (int s = 0; s < 2 * Split::sets; s += 4) {
        double sum[4] = {d[s], d[s + 1], d[s + 2], d[s + 3]};
        // `a` has pairs A(g, 2t), A(g, 2t + 1) per set; multiply_16x8 needs A(g, 2t), A(g + 8, 2t) first.
        const double a_pairs[4] = {a[s], a[s + 2], a[s + 1], a[s + 3]};
        lu::multiply_16x8(sum, a_pairs, b);
        GAUSSWEEP_UNROLL
        for (int e = 0; e < 4; ++e) d[s + e] = sum[e];
      }
    }
  }
  /// Loads the thread's elements of a tile with leading dimension `ld`.
  static __device__ __forceinline__ void load_tile(const double* tile_data, int ld, double (&b)[2]) {
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) b[h] = tile_data[(2 * lane_of_quad() + h) * ld + quad()];
  }
  /// Subtracts tile (i, k) of the square times tile k of X; `negated_x` has the negated elements of X.
  __device__ __forceinline__ void subtract_tile(const double* square, int i, int k,
                                                const TileElements& negated_x) {
    double b[2];
    load_tile(square + tile_order * k * pitch + tile_order * i, pitch, b);
    multiply(a_[i], negated_x, b);
  }
  /// Subtracts the products of a square off the diagonal from a_.
  __device__ void subtract(const lu::SquareIterator& current, const double* square) {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < tiles_per_square; ++k) {
      const int tile_index = tiles_per_square * current.j() + k;
      if (!is_inside(tile_index) || (current.is_forward() && !is_nonzero(tile_index))) continue;
      TileElements negated_x;
      GAUSSWEEP_UNROLL
      for (int s = 0; s < Split::sets; ++s)
        lu::load_two(negated_elements(tile_index, s), negated_x[2 * s], negated_x[2 * s + 1]);
      GAUSSWEEP_UNROLL
      for (int i = 0; i < tiles_per_square; ++i) {
        if (is_inside(tiles_per_square * current.i() + i)) subtract_tile(square, i, k, negated_x);
      }
    }
  }
  /// Computes the inverses of U's scaled diagonal tiles with one warp; a lane computes one column. If the
  /// pivots of a tile are tiny, products with the inverse of the unscaled tile would overflow before they
  /// cancel. The scale, a power of two, is stored behind each column.
  __device__ __forceinline__ void invert_upper_tiles(int square_row, const double* square,
                                                     double* tile_inverses) const {
    const int column = lane() % tile_order;
    const double* const tile_data = square + lane() / tile_order * tile_order * (pitch + 1);
    const double pivot = square[lane() * (pitch + 1)];
    double largest = square_order * square_row + lane() < n_ ? std::fabs(pivot) : 0;
    // The largest |pivot| of the tile: a butterfly reduction over the tile's eight lanes.
    GAUSSWEEP_UNROLL
    for (int distance = tile_order / 2; distance > 0; distance /= 2)
      largest = std::fmax(largest, __shfl_xor_sync(0xffffffffu, largest, distance));
    const double scale = largest < 0x1p-500 ? 0x1p512 : 1.0;
    const double reciprocal = 1.0 / (pivot * scale);
    double y[tile_order];
    GAUSSWEEP_UNROLL
    for (int r = 0; r < tile_order; ++r) y[r] = r == column ? 1.0 : 0.0;
    GAUSSWEEP_UNROLL
    for (int k = tile_order - 1; k >= 0; --k) {
      y[k] *= __shfl_sync(0xffffffffu, reciprocal, lane() / tile_order * tile_order + k);
      GAUSSWEEP_UNROLL
      for (int r = 0; r < k; ++r) y[r] = std::fma(-tile_data[k * pitch + r] * scale, y[k], y[r]);
    }
    GAUSSWEEP_UNROLL
    for (int r = 0; r < tile_order; ++r) tile_inverses[lane() * lu::inverse_stride + r] = y[r];
    tile_inverses[lane() * lu::inverse_stride + tile_order] = scale;
  }
  /// Computes scaled = factor * x.
  static __device__ __forceinline__ void scale(const TileElements& x, double factor, TileElements& scaled) {
    GAUSSWEEP_UNROLL
    for (int e = 0; e < 2 * Split::sets; ++e) scaled[e] = factor * x[e];
  }

  /// Solves with L in a diagonal square.
  __device__ void substitute_down(int square_row, const double* square) {
    GAUSSWEEP_UNROLL
    for (int i = 0; i < tiles_per_square; ++i) {
      const int row_tile = tiles_per_square * square_row + i;
      if (!is_inside(row_tile) || !is_nonzero(row_tile)) continue;
      double inverse[2];
      load_tile(inverses(Triangle::l) + tile_order * i * lu::inverse_stride, lu::inverse_stride, inverse);
      TileElements x = {}, negated_x;
      multiply(x, a_[i], inverse);
      scale(x, 1.0, a_[i]);  // copies x
      scale(x, -1.0, negated_x);
      GAUSSWEEP_UNROLL
      for (int below = i + 1; below < tiles_per_square; ++below) {
        if (is_inside(tiles_per_square * square_row + below)) subtract_tile(square, below, i, negated_x);
      }
    }
  }
  /// Solves with U in a diagonal square, with one refinement step per tile, and stores the result to X.
  __device__ void substitute_up(int square_row, const double* square) {
    GAUSSWEEP_UNROLL
    for (int i = tiles_per_square - 1; i >= 0; --i) {
      if (!is_inside(tiles_per_square * square_row + i)) continue;
      double inverse[2], u_elements[2];
      const double* const tile_data = inverses(Triangle::u) + tile_order * i * lu::inverse_stride;
      const double tile_scale = tile_data[tile_order];
      load_tile(tile_data, lu::inverse_stride, inverse);
      load_tile(square + tile_order * i * (pitch + 1), pitch, u_elements);
      GAUSSWEEP_UNROLL
      for (int h = 0; h < 2; ++h)
        u_elements[h] = quad() <= 2 * lane_of_quad() + h ? u_elements[h] : 0.0;  // below the diagonal is L
      // `inverse` is that of the scaled tile, so that the solution is tile_scale * x.
      TileElements x = {}, negated_x;
      multiply(x, a_[i], inverse);
      scale(x, -tile_scale, negated_x);
      multiply(a_[i], negated_x, u_elements);  // a_[i] is now the residual
      multiply(x, a_[i], inverse);             // the refinement step
      scale(x, tile_scale, a_[i]);             // a_[i] is now the solution
      store(tiles_per_square * square_row + i, i);
      scale(x, -tile_scale, negated_x);
      GAUSSWEEP_UNROLL
      for (int above = 0; above < i; ++above) subtract_tile(square, above, i, negated_x);
    }
  }
  /// Stores the thread's elements of tile i, which is tile `tile_index` of the matrix, to X in global memory.
  __device__ __forceinline__ void store(int tile_index, int i) {
    const int row = tile_index * tile_order + 2 * lane_of_quad();
    GAUSSWEEP_UNROLL
    for (int s = 0; s < Split::sets; ++s) {
      if (target_columns_[s] < 0) continue;
      double* const to = x_ + row + target_columns_[s] * n_;
      if (is_aligned_ && row < n_) {
        lu::store_two(to, a_[i][2 * s], a_[i][2 * s + 1]);
      } else {
        GAUSSWEEP_UNROLL
        for (int q = 0; q < 2; ++q) {
          if (row + q < n_) to[q] = a_[i][2 * s + q];
        }
      }
    }
  }

  /// Computes the warp's columns that are not finite again, by substitution from global memory; a lane has a
  /// column. The first element of such a column is not finite, because it is computed last, from all others.
  __device__ void repair() const {
    __syncwarp();
    const int column = column_ + lane();
    if (lane() >= tile_order * Split::sets || column >= n_) return;
    double* const x = x_ + pivot_rows_[column] * n_;
    if (*x - *x != 0) factored::substitute_column(factors_, n_, column, x);
  }

  int n_;
  int square_count_;  ///< squares in a row or column of the matrix
  int first_square_;  ///< the first row of squares in which L^-1 has nonzeros in these columns
  int column_;        ///< the warp's first column
  const double* factors_;
  const int* pivot_rows_;
  double* x_;
  bool is_singular_;
  double* shared_;
  bool is_aligned_;  ///< true if n and the addresses are such that all columns are aligned to 16 bytes
  /// The columns of X that the thread stores to, one per set; -1 beyond column n. Column j of U^-1 L^-1 is
  /// column pivot_rows_[j] of X, because X = U^-1 L^-1 P.
  int target_columns_[Split::sets];
  /// The thread's elements in the current row of squares: first the right-hand sides, finally the answers.
  /// They are D of the products that are subtracted, and A of the products with inverses of diagonal tiles.
  TileElements a_[tiles_per_square];
};

/// Computes the columns of one thread block. Thread blocks of one system have consecutive indices, so that
/// they find the system's factors in the cache.
template <class Split>
__global__ void __launch_bounds__(Split::threads) invert_columns(Batch batch) {
  const int blocks = (batch.n + Split::columns - 1) / Split::columns;
  const std::int64_t system = blockIdx.x / static_cast<unsigned>(blocks);
  const int first_column = static_cast<int>(blockIdx.x % static_cast<unsigned>(blocks)) * Split::columns;
  InverseColumns<Split>(batch, system, first_column).invert();
}

/// Launches a work split. @throws std::runtime_error if a block needs more shared memory than the device has
template <class Split>
void launch_split(Context& context, const Batch& batch) {
  const std::int64_t blocks = batch.count * ((batch.n + Split::columns - 1) / Split::columns);
  simt::launch(context, invert_columns<Split>, dim3(static_cast<unsigned>(blocks)), dim3(Split::threads),
               Split::shared_bytes(batch.n), batch);
}
/// Returns true if a thread block of the work split fits in the device's shared memory.
template <class Split>
bool fits(Context& context, const Batch& batch) {
  return Split::shared_bytes(batch.n) <= simt::max_shared_bytes(context);
}
/// Launches the fastest work split for n as measured (docs/notebook/batched_inverses.md). The last two splits
/// are for GPUs with little shared memory; they need at most 48 KiB.
inline void launch(Context& context, const Batch& batch) {
  using Small = ColumnSplit<2, 2, 0>;
  using Middle = ColumnSplit<2, 4, 1>;
  using Large = ColumnSplit<1, 4, 2>;
  using Narrow = ColumnSplit<2, 1, 0>;
  using Smallest = ColumnSplit<1, 1, 0>;
  if (batch.n <= 32 && fits<Small>(context, batch)) return launch_split<Small>(context, batch);
  if (batch.n <= 256 && fits<Middle>(context, batch)) return launch_split<Middle>(context, batch);
  if (fits<Large>(context, batch)) return launch_split<Large>(context, batch);
  if (fits<Narrow>(context, batch)) return launch_split<Narrow>(context, batch);
  launch_split<Smallest>(context, batch);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::columns
