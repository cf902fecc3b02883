#pragma once
/// Solves small systems with several right-hand sides from their factors: L y = b, then U x = y. The factors
/// are those of LU, P A = L U with ones on the diagonal of L, or of Cholesky, A = L L^T.
///
/// The right-hand sides are independent. A warp solves for 4, 8 or 16 right-hand sides, 32 rows (a *block
/// row*) at a time. Lane 4 q + p has four adjacent rows of the block row, from row 4 q on (a *quad*). It has
/// these rows of quarter p of the warp's right-hand sides. *Squares* of 32 x 32 elements of the factors are
/// staged in shared memory for all warps of a work split's group. The next square is copied while the current
/// one is used (double buffering). Finished unknowns are in shared memory, too, where all lanes of the warp
/// read them.
///
/// The products of a row are added up before they are subtracted from the right-hand side, which is more
/// accurate than subtracting them one by one.
///
/// For the inverse, the right-hand sides are the columns of the identity. Products may overflow although the
/// inverse is finite. Columns that are not finite are therefore computed again with scaled rows of U.

#include <cmath>
#include <cstdint>

#include "kernels/core/enums.hpp"
#include "kernels/core/matrix.hpp"
#include "kernels/getrf/small_rows.cuh"
#include "kernels/getrf/square_iterator.cuh"
#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::factored {

constexpr int square_order = 32;  ///< rows and columns of a square; rows of a block row
constexpr int lane_rows = 4;      ///< rows of a block row per lane

/// A batch of factored systems whose operands are contiguous.
template <class T>
struct Batch {
  std::int64_t count;
  int n, nrhs;
  const T* factors;
  const T* b;  ///< null: the identity
  T* x;
  bool upper;             ///< Cholesky: L^T is stored in the upper triangle, instead of L in the lower one
  const int* pivot_rows;  ///< LU: the index in A of the pivot row of each step
  const int* info;        ///< LU: LAPACK's info of the factors
};

/// Returns the batch of a method's operands. @param pivot_rows for LU, the index in A of the pivot row of
/// each step; null for Cholesky
template <class T>
Batch<T> batch_of(const Operands<T>& op, const int* pivot_rows) {
  const Shape& shape = op.shape;
  return {shape.batch,
          static_cast<int>(shape.n),
          static_cast<int>(shape.nrhs),
          op.a.data,
          op.b.data,
          op.x.data,
          /*upper=*/shape.uplo == Uplo::upper,
          pivot_rows,
          op.info};
}

/// The threads that share the squares of the factors in shared memory.
enum class SquareSharing {
  per_warp,  ///< each warp of a thread block has its own squares, for another system or other right-hand
             ///< sides
  per_block  ///< all warps of a thread block use the same squares, for different right-hand sides
};

/// The work split: a lane has `LaneColumns` right-hand sides. A *group* is a set of warps that share squares:
/// one warp or all warps of a thread block.
/// @tparam Symmetric true for factors of Cholesky, false for LU
template <bool Symmetric, int LaneColumns, SquareSharing Sharing, int Warps>
struct SolveSplit {
  static constexpr bool symmetric = Symmetric;
  static constexpr int lane_columns = LaneColumns, columns = 4 * LaneColumns;
  static constexpr int warps = Warps, threads = 32 * Warps;
  static constexpr bool is_one_warp_per_group = Sharing == SquareSharing::per_warp;
  static constexpr int groups = is_one_warp_per_group ? Warps : 1;  ///< groups per thread block
  static constexpr int group_columns =
      is_one_warp_per_group ? columns : columns * Warps;  ///< right-hand sides per group
  /// Leading dimension of a square. For Cholesky it is odd: squares are read by columns and by rows without
  /// bank conflicts. For LU it is a multiple of four, because four adjacent elements are read at a time.
  static constexpr int pitch = square_order + (Symmetric ? 1 : 4);
  static constexpr int square_size = square_order * pitch;

  static constexpr int padded(int n) { return (n + square_order - 1) / square_order * square_order; }
  /// Returns the elements of shared memory of a group: one or two squares, and the unknowns.
  static constexpr std::int64_t group_size(int n) {
    return (n > square_order ? 2 : 1) * square_size + static_cast<std::int64_t>(padded(n)) * group_columns;
  }
  template <class T>
  static std::size_t shared_bytes(int n) {
    return static_cast<std::size_t>(groups * group_size(n)) * sizeof(T);
  }
};

/// Computes column `column` of (L U)^-1 with one thread, from L and U in global memory. Rows of U are scaled
/// by powers of two such that their largest elements are in [1, 2). No product then exceeds 2 |x|.
template <class T>
__device__ GAUSSWEEP_NOINLINE void substitute_column(const T* factors, int n, int column, T* x) {
  GAUSSWEEP_ROLLED
  for (int i = 0; i < n; ++i) {
    T sum = i == column ? 1 : 0;
    GAUSSWEEP_ROLLED
    for (int k = column; k < i; ++k) sum = std::fma(-factors[i + k * n], x[k], sum);
    x[i] = sum;
  }
  GAUSSWEEP_ROLLED
  for (int i = n - 1; i >= 0; --i) {
    T largest = 0;
    GAUSSWEEP_ROLLED
    for (int k = i; k < n; ++k) largest = std::fmax(largest, std::fabs(factors[i + k * n]));
    const T scale = small::inverse_power_of_two(largest);
    T sum = x[i] * scale;
    GAUSSWEEP_ROLLED
    for (int k = i + 1; k < n; ++k) sum = std::fma(-(factors[i + k * n] * scale), x[k], sum);
    x[i] = sum / (factors[i + i * n] * scale);
  }
}

/// The right-hand sides of a warp. @tparam Split a SolveSplit
template <class T, class Split>
class WarpSolve {
 public:
  /// @param shared the group's memory
  /// @param group_rhs the group's first right-hand side
  /// @param first_rhs the warp's first right-hand side
  __device__ WarpSolve(const Batch<T>& batch, T* shared, std::int64_t system, int group_rhs, int first_rhs)
      : n_(batch.n),
        first_rhs_(first_rhs),
        count_(min(batch.nrhs - first_rhs, Split::columns)),
        upper_(batch.upper),
        square_count_((batch.n + square_order - 1) / square_order),
        first_square_(batch.b == nullptr ? group_rhs / square_order : 0),
        factors_(batch.factors + system * n_ * n_),
        pivot_rows_(Split::symmetric ? nullptr : batch.pivot_rows + system * n_),
        b_(batch.b == nullptr ? nullptr : batch.b + (system * batch.nrhs + first_rhs) * n_),
        x_(batch.x + (system * batch.nrhs + (batch.b == nullptr ? 0 : first_rhs)) * n_),
        square_memory_(shared),
        unknowns_(shared + (square_count_ > 1 ? 2 : 1) * Split::square_size +
                  (Split::is_one_warp_per_group
                       ? 0
                       : static_cast<int>(threadIdx.x) / 32 * Split::columns * Split::padded(n_))) {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Split::lane_columns; ++c) {
      const int column = first_column() + c;
      // Column j of U^-1 L^-1 is column pivot_rows_[j] of the inverse U^-1 L^-1 P.
      target_columns_[c] = column >= count_ ? -1 : b_ != nullptr ? column : pivot_rows_[first_rhs_ + column];
    }
  }

  /// Solves for the warp's right-hand sides. Visits the squares in the order of lu::SquareIterator: those of
  /// L for the forward substitution, then those of U for the back substitution.
  __device__ void run() {
    lu::SquareIterator next(first_square_, square_count_), current = next;
    start_copy(next, square_memory_);
    GAUSSWEEP_ROLLED
    for (int stage = 0; !current.is_done(); current.advance(), stage ^= 1) {
      simt::await_copy_groups<0>();
      synchronize_group();  // the square has arrived, and no thread still uses the other buffer
      if (square_count_ > 1) start_copy(next, square_memory_ + (stage ^ 1) * Split::square_size);
      if (count_ > 0) process(current, square_memory_ + stage * Split::square_size);
    }
  }

  /// Computes the warp's columns of the inverse that are not finite again, by substitution from global
  /// memory; a lane has a column. The first element of such a column is not finite, because it is computed
  /// last, from all others.
  __device__ void repair() const {
    __syncwarp();
    for (int c = lane(); c < count_; c += 32) {
      const int column = first_rhs_ + c;
      T* const x = x_ + pivot_rows_[column] * n_;
      if (*x - *x != T(0)) substitute_column(factors_, n_, column, x);
    }
  }

 private:
  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  static __device__ __forceinline__ void synchronize_group() {
    Split::is_one_warp_per_group ? __syncwarp() : __syncthreads();
  }

  /// Starts to copy the square at `position`, with zeros beyond n, and advances `position`. For the back
  /// substitution of Cholesky it is the square of L that is used transposed.
  __device__ void start_copy(lu::SquareIterator& position, T* square) {
    if (!position.is_done()) {
      const bool is_transposed = Split::symmetric && !position.is_forward();
      const int row = square_order * (is_transposed ? position.j() : position.i());
      const int column = square_order * (is_transposed ? position.i() : position.j());
      const bool is_upper = Split::symmetric && upper_;
      constexpr int threads = Split::is_one_warp_per_group ? 32 : Split::threads, step = threads / 32;
      // Consecutive lanes copy consecutive elements of global memory.
      const int lane_offset = (is_upper ? column : row) + lane();  // row index in the stored triangle
      const int warp = static_cast<int>(threadIdx.x) % threads / 32;
      const int stored_column = is_upper ? row : column;
      const T* from = factors_ + lane_offset + static_cast<std::int64_t>(stored_column + warp) * n_;
      T* to = square + (is_upper ? lane() * Split::pitch + warp : lane() + warp * Split::pitch);
      GAUSSWEEP_ROLLED
      for (int c = warp; c < square_order; c += step) {
        const bool exists = lane_offset < n_ && stored_column + c < n_;
        simt::copy_or_zero(to, exists ? from : factors_, exists);
        from += static_cast<std::int64_t>(step) * n_;
        to += step * (is_upper ? 1 : Split::pitch);
      }
    }
    position.advance();
    simt::end_copy_group();
  }

  /// Performs the steps of both substitutions that use one square. `Forward` is true in the forward
  /// substitution, which goes from the first row down.
  __device__ void process(const lu::SquareIterator& current, const T* square) {
    if (current.begins_row()) set_sums_to_zero();
    if (current.i() != current.j()) {
      return current.is_forward() ? subtract</*Forward=*/true>(current.j(), square)
                                  : subtract</*Forward=*/false>(current.j(), square);
    }
    const int first_row = current.i() * square_order;
    if (current.is_forward()) {
      // sums_ has minus the products of this block row; substitute() adds the right-hand sides.
      store_rhs(first_row, /*is_zero=*/false);
      substitute</*Forward=*/true>(first_row, square);
      set_sums_to_zero();
      __syncwarp();  // no lane still reads unknowns of the forward substitution
    } else if (current.i() < first_square_) {
      // The forward substitution skipped this block row, because its right-hand sides are 0.
      store_rhs(first_row, /*is_zero=*/true);
    }
    if (!current.is_forward() || current.is_last_row()) {
      substitute</*Forward=*/false>(first_row, square);
      for_elements([&](int row, int c, T unknown) { store(row, c, unknown); }, first_row);
    }
    __syncwarp();  // all lanes can read the unknowns
  }

  /// Returns the element of the lane's right-hand side c that belongs to row `row` of the factors.
  __device__ __forceinline__ T rhs(int row, int c) const {
    if (b_ == nullptr) return row == first_rhs_ + first_column() + c ? 1 : 0;
    if (row >= n_ || target_columns_[c] < 0) return 0;
    return b_[(Split::symmetric ? row : pivot_rows_[row]) +
              static_cast<std::int64_t>(target_columns_[c]) * n_];
  }
  /// Stores the lane's right-hand sides of a block row, or zeros, to shared memory, where the unknowns
  /// replace them.
  __device__ __forceinline__ void store_rhs(int first_row, bool is_zero) {
    for_elements(
        [&](int row, int c, T) {
          unknowns_[row * Split::columns + first_column() + c] = is_zero ? T(0) : rhs(row, c);
        },
        first_row);
  }
  /// Stores an element of the lane's solution c.
  __device__ __forceinline__ void store(int row, int c, T unknown) {
    if (row >= n_ || target_columns_[c] < 0) return;
    x_[row + static_cast<std::int64_t>(target_columns_[c]) * n_] = unknown;
  }

  /// Returns the index of the lane's four adjacent rows (a *quad*) in a block row.
  static __device__ __forceinline__ int row_quad() { return lane() / 4; }
  static __device__ __forceinline__ int first_column() { return lane() % 4 * Split::lane_columns; }
  /// Calls visit(row, index of the lane's right-hand side, sum) for all of the lane's sums.
  /// @param first_row the block row's first row
  template <class Visit>
  __device__ __forceinline__ void for_elements(Visit&& visit, int first_row) {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < lane_rows; ++r) {
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Split::lane_columns; ++c)
        visit(first_row + row_quad() * lane_rows + r, c, sums_[r][c]);
    }
  }
  __device__ __forceinline__ void set_sums_to_zero() {
    for_elements([](int, int, T& sum) { sum = 0; }, /*first_row=*/0);
  }
  /// Loads the lane's elements of column k of a square. For the back substitution of Cholesky, this is a
  /// column of the transposed square.
  template <bool Forward>
  static __device__ __forceinline__ void load_elements(const T* square, int k, T (&elements)[lane_rows]) {
    const int row = row_quad() * lane_rows;
    if constexpr (Split::symmetric) {
      GAUSSWEEP_UNROLL
      for (int r = 0; r < lane_rows; ++r)
        elements[r] = square[Forward ? row + r + k * Split::pitch : k + (row + r) * Split::pitch];
    } else {
      lu::load_adjacent(square + row + k * Split::pitch, elements);
    }
  }

  /// Subtracts column k of a square times the row `row_unknowns` of finished unknowns.
  template <bool Forward>
  __device__ __forceinline__ void subtract_row(const T* square, int k, const T* row_unknowns) {
    T elements[lane_rows], unknowns[Split::lane_columns];
    load_elements<Forward>(square, k, elements);
    lu::load_adjacent(row_unknowns, unknowns);
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Split::lane_columns; ++c) {
      GAUSSWEEP_UNROLL
      for (int r = 0; r < lane_rows; ++r) sums_[r][c] = std::fma(-elements[r], unknowns[c], sums_[r][c]);
    }
  }
  /// Subtracts the products of a square off the diagonal with the finished unknowns of a block row.
  template <bool Forward>
  __device__ __forceinline__ void subtract(int block_row, const T* square) {
    const T* const unknowns = unknowns_ + block_row * square_order * Split::columns + first_column();
    GAUSSWEEP_UNROLL
    for (int k = 0; k < square_order; ++k)  // elements beyond n are 0
      subtract_row<Forward>(square, k, unknowns + k * Split::columns);
  }

  /// Solves with the diagonal square of the block row that begins at row `first_row`, four rows at a time.
  /// The unknowns replace the right-hand sides in shared memory. The reciprocals of the diagonal of a
  /// Cholesky factor are finite, because the diagonal has square roots. Pivots of LU are scaled by a power of
  /// two first.
  template <bool Forward>
  __device__ __forceinline__ void substitute(int first_row, const T* square) {
    constexpr bool has_unit_diagonal = !Split::symmetric && Forward;
    T scale[lane_rows], inverse[lane_rows];
    GAUSSWEEP_UNROLL
    for (int r = 0; r < lane_rows && !has_unit_diagonal; ++r) {
      const int row = row_quad() * lane_rows + r;
      const T diagonal = square[row * (Split::pitch + 1)];
      scale[r] = Split::symmetric ? T(1) : small::inverse_power_of_two(diagonal);
      inverse[r] = first_row + row < n_ ? T(1) / (Split::symmetric ? diagonal : diagonal * scale[r]) : T(0);
    }
    GAUSSWEEP_ROLLED
    for (int step = 0; step < square_order / lane_rows; ++step) {
      const int quad = Forward ? step : square_order / lane_rows - 1 - step;  // of the rows that are solved
      T* const quad_unknowns = unknowns_ + (first_row + quad * lane_rows) * Split::columns + first_column();
      const bool is_inside = first_row + quad * lane_rows < n_;
      if (row_quad() == quad) {
        GAUSSWEEP_UNROLL
        for (int i = 0; i < lane_rows; ++i) {
          const int solved = Forward ? i : lane_rows - 1 - i;
          if (!is_inside) {
            constexpr T zeros[Split::lane_columns] = {};
            lu::store_adjacent(quad_unknowns + solved * Split::columns, zeros);
            continue;
          }
          T elements[lane_rows], rhs_elements[Split::lane_columns];
          load_elements<Forward>(square, quad * lane_rows + solved, elements);
          lu::load_adjacent(quad_unknowns + solved * Split::columns, rhs_elements);
          GAUSSWEEP_UNROLL
          for (int c = 0; c < Split::lane_columns; ++c) {
            T& unknown = sums_[solved][c];
            unknown += rhs_elements[c];
            if (!has_unit_diagonal)
              unknown = unknown * inverse[solved] * (Split::symmetric ? T(1) : scale[solved]);
            GAUSSWEEP_UNROLL
            for (int r = Forward ? solved + 1 : 0; r < (Forward ? lane_rows : solved); ++r)
              sums_[r][c] = std::fma(-elements[r], unknown, sums_[r][c]);
          }
          lu::store_adjacent(quad_unknowns + solved * Split::columns, sums_[solved]);
        }
      }
      if (!is_inside) continue;
      __syncwarp();
      if (Forward ? row_quad() > quad : row_quad() < quad) {
        GAUSSWEEP_UNROLL
        for (int i = 0; i < lane_rows; ++i) {
          const int solved = Forward ? i : lane_rows - 1 - i;
          subtract_row<Forward>(square, quad * lane_rows + solved, quad_unknowns + solved * Split::columns);
        }
      }
    }
  }

  int n_;
  int first_rhs_;
  int count_;  ///< the warp's right-hand sides; at most 0 for a warp that only copies
  bool upper_;
  int square_count_;  ///< squares in a row or column of the matrix
  int first_square_;  ///< the first row of squares in which the group's right-hand sides are not all 0
  const T* factors_;
  const int* pivot_rows_;
  const T* b_;
  T* x_;
  T* square_memory_;
  T* unknowns_;                              ///< the warp's finished unknowns: [row][right-hand side]
  int target_columns_[Split::lane_columns];  ///< the columns of b_ and x_ of the lane's solutions, or -1
  T sums_[lane_rows][Split::lane_columns];   ///< the lane's sums, then unknowns, in a block row
};

/// Solves with the factors of all systems. Groups of one system have consecutive indices.
template <class T, class Split>
__global__ void __launch_bounds__(Split::threads) solve_factored(Batch<T> batch) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int groups_per_system = (batch.nrhs + Split::group_columns - 1) / Split::group_columns;
  const std::int64_t group =
      static_cast<std::int64_t>(blockIdx.x) * Split::groups + (Split::is_one_warp_per_group ? warp : 0);
  const std::int64_t system = group / groups_per_system;
  if (system >= batch.count) return;
  const int group_rhs = static_cast<int>(group % groups_per_system) * Split::group_columns,
            first_rhs = group_rhs + (Split::is_one_warp_per_group ? 0 : warp * Split::columns);
  T* const shared =
      simt::dynamic_shared<T>() + (Split::is_one_warp_per_group ? warp * Split::group_size(batch.n) : 0);
  WarpSolve<T, Split> solve(batch, shared, system, group_rhs, first_rhs);
  solve.run();
  if constexpr (!Split::symmetric) {
    if (batch.b == nullptr && batch.info[system] == 0) solve.repair();
  }
}

/// Launches a work split. @throws std::runtime_error if a block needs more shared memory than the device has
template <class T, class Split>
void launch(Context& context, const Batch<T>& batch) {
  const std::int64_t groups_per_system = (batch.nrhs + Split::group_columns - 1) / Split::group_columns;
  const std::int64_t blocks = (batch.count * groups_per_system + Split::groups - 1) / Split::groups;
  simt::launch(context, solve_factored<T, Split>, dim3(static_cast<unsigned>(blocks)), dim3(Split::threads),
               Split::template shared_bytes<T>(batch.n), batch);
}

/// Solves every system of a batch. Uses the fastest work split as measured on an H200
/// (docs/notebook/batches.md) that fits in shared memory.
/// @throws std::runtime_error if a block of the smallest split, with 34 KB, does not fit
template <bool Symmetric, class T>
void solve(Context& context, const Batch<T>& batch) {
  const int n = batch.n, nrhs = batch.nrhs;
  const std::size_t max_bytes = simt::max_shared_bytes(context);
  const auto try_launch = [&](auto split, bool is_wanted) {
    using Split = decltype(split);
    if (!is_wanted || Split::template shared_bytes<T>(n) > max_bytes) return false;
    launch<T, Split>(context, batch);
    return true;
  };
  constexpr auto per_warp = SquareSharing::per_warp, per_block = SquareSharing::per_block;
  const bool is_small = n <= (sizeof(T) == 8 ? 32 : 256);
  // For the identity, groups of fewer columns skip more zeros, which matters at small orders.
  const bool has_small_groups = batch.b == nullptr && (n <= 64 || n > 448);
  if (try_launch(SolveSplit<Symmetric, 4, per_block, 4>(), nrhs > 32 && !has_small_groups)) return;
  if (try_launch(SolveSplit<Symmetric, 4, per_block, 2>(), nrhs > 16 && is_small)) return;
  if (try_launch(SolveSplit<Symmetric, 2, per_block, 4>(), nrhs > 16)) return;
  if (try_launch(SolveSplit<Symmetric, 4, per_warp, 4>(), nrhs > 8 && is_small)) return;
  if (try_launch(SolveSplit<Symmetric, 2, per_block, 2>(), nrhs > 8)) return;
  if (try_launch(SolveSplit<Symmetric, 2, per_warp, 2>(), nrhs > 4)) return;
  if (try_launch(SolveSplit<Symmetric, 1, per_warp, 4>(), /*is_wanted=*/true)) return;
  launch<T, SolveSplit<Symmetric, 1, per_warp, 1>>(context, batch);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::factored
