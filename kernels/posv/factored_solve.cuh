#pragma once
/// Solves small systems with several right-hand sides from their Cholesky factors: L y = b, then L^T x = y.
///
/// The right-hand sides are independent. A warp solves for 4, 8 or 16 right-hand sides, 32 rows (a *block
/// row*) at a time. A lane has four adjacent rows of a quarter of the warp's right-hand sides. *Squares* of
/// 32 x 32 elements of L are staged in shared memory for all warps that solve the same system. The next
/// square is copied while the current one is used. Finished unknowns are in shared memory, too, where all
/// lanes of the warp read them.
///
/// The products of a block row are added up before they are subtracted from the right-hand side, which is
/// more accurate than subtracting them one by one.

#include <cmath>
#include <cstdint>

#include "kernels/core/enums.hpp"
#include "kernels/core/matrix.hpp"
#include "kernels/getrf/square_order.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::factored {

constexpr int square_order = 32;  ///< rows and columns of a square; rows of a block row
constexpr int pitch =
    square_order + 1;  ///< leading dimension of a square: no bank conflicts in either direction
constexpr int square_size = square_order * pitch;
constexpr int lane_rows = 4;  ///< rows of a block row per lane

/// A batch of factored systems whose operands are contiguous.
template <class T>
struct Batch {
  std::int64_t count;
  int n, nrhs;
  bool upper;  ///< L^T is stored, in the upper triangle
  const T* factors;
  const T* b;
  T* x;
};

/// The threads that share the squares of L in shared memory.
enum class SquareSharing {
  per_warp,  ///< each warp of a thread block has its own squares, for another system or other right-hand
             ///< sides
  per_block  ///< all warps of a thread block use the same squares, for different right-hand sides
};

/// The work split: a lane has `LaneColumns` right-hand sides. A *group* is a set of warps that share squares:
/// one warp or all warps of a thread block.
template <int LaneColumns, SquareSharing Sharing, int Warps>
struct WorkSplit {
  static constexpr int lane_columns = LaneColumns, columns = 4 * LaneColumns;
  static constexpr int warps = Warps, threads = 32 * Warps;
  static constexpr bool single = Sharing == SquareSharing::per_warp;        ///< a group is one warp
  static constexpr int groups = single ? Warps : 1;                         ///< groups per thread block
  static constexpr int group_columns = single ? columns : columns * Warps;  ///< right-hand sides per group

  static constexpr int padded(int n) { return (n + square_order - 1) / square_order * square_order; }
  /// Returns the elements of shared memory of a group.
  static constexpr std::int64_t group_size(int n) {
    return (n > square_order ? 2 : 1) * square_size + static_cast<std::int64_t>(padded(n)) * group_columns;
  }
  template <class T>
  static std::size_t shared_bytes(int n) {
    return static_cast<std::size_t>(groups * group_size(n)) * sizeof(T);
  }
};

/// The right-hand sides of a warp. @tparam S a WorkSplit
template <class T, class S>
class Solve {
 public:
  /// @param shared the group's memory
  /// @param first_rhs the warp's first right-hand side
  __device__ Solve(const Batch<T>& batch, T* shared, std::int64_t system, int first_rhs)
      : n_(batch.n),
        count_(min(batch.nrhs - first_rhs, S::columns)),
        upper_(batch.upper),
        squares_((batch.n + square_order - 1) / square_order),
        factor_(batch.factors + system * n_ * n_),
        b_(batch.b + (system * batch.nrhs + first_rhs) * n_),
        x_(batch.x + (system * batch.nrhs + first_rhs) * n_),
        square_memory_(shared),
        unknowns_(shared + (squares_ > 1 ? 2 : 1) * square_size +
                  (S::single ? 0 : static_cast<int>(threadIdx.x) / 32 * S::columns * S::padded(n_))) {}

  __device__ void run() {
    lu::SquareOrder next(/*first=*/0, squares_), current = next;
    start_copy(next, square_memory_);
    GAUSSWEEP_ROLLED
    for (int stage = 0; !current.is_done(); current.advance(), stage ^= 1) {
      simt::await_copy_groups<0>();
      synchronize_group();  // the square has arrived, and no thread still uses the other buffer
      if (squares_ > 1) start_copy(next, square_memory_ + (stage ^ 1) * square_size);
      if (count_ > 0) process(current, square_memory_ + stage * square_size);
    }
  }

 private:
  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  static __device__ __forceinline__ void synchronize_group() { S::single ? __syncwarp() : __syncthreads(); }

  /// Starts to copy the square at `position`, with zeros beyond n, and advances `position`.
  __device__ void start_copy(lu::SquareOrder& position, T* square) {
    if (!position.is_done()) {
      const int row = square_order * (position.is_forward() ? position.i() : position.j());
      const int column = square_order * (position.is_forward() ? position.j() : position.i());
      constexpr int threads = S::single ? 32 : S::threads, step = threads / 32;
      // Consecutive lanes copy consecutive elements of global memory.
      const int lane_offset = (upper_ ? column : row) + lane();  // row index in the stored triangle
      const int warp = static_cast<int>(threadIdx.x) % threads / 32;
      const int stored_column = upper_ ? row : column;
      const T* from = factor_ + lane_offset + static_cast<std::int64_t>(stored_column + warp) * n_;
      T* to = square + (upper_ ? lane() * pitch + warp : lane() + warp * pitch);
      GAUSSWEEP_ROLLED
      for (int c = warp; c < square_order; c += step) {
        const bool exists = lane_offset < n_ && stored_column + c < n_;
        simt::copy_or_zero(to, exists ? from : factor_, exists);
        from += static_cast<std::int64_t>(step) * n_;
        to += step * (upper_ ? 1 : pitch);
      }
    }
    position.advance();
    simt::end_copy_group();
  }

  /// Performs the steps of both substitutions that use one square.
  __device__ void process(const lu::SquareOrder& current, const T* square) {
    if (current.begins_row()) for_elements([](int, int, T& sum) { sum = 0; }, /*first_row=*/0);
    if (current.i() != current.j()) {
      return current.is_forward() ? subtract</*Down=*/true>(current.j(), square)
                                  : subtract</*Down=*/false>(current.j(), square);
    }
    const int first_row = current.i() * square_order;
    if (current.is_forward()) {
      for_elements(
          [&](int row, int c, T& sum) {
            sum += row < n_ && c < count_ ? b_[row + static_cast<std::int64_t>(c) * n_] : T(0);
          },
          first_row);
      substitute</*Down=*/true>(first_row, square);
    } else {
      for_elements([&](int row, int c, T& sum) { sum += unknowns_[row * S::columns + c]; }, first_row);
    }
    if (!current.is_forward() || current.is_last_row()) {
      substitute</*Down=*/false>(first_row, square);
      for_elements(
          [&](int row, int c, const T& unknown) {
            if (row < n_ && c < count_) x_[row + static_cast<std::int64_t>(c) * n_] = unknown;
          },
          first_row);
    }
    for_elements([&](int row, int c, const T& unknown) { unknowns_[row * S::columns + c] = unknown; },
                 first_row);
    __syncwarp();
  }

  /// Returns the index of the lane's four adjacent rows (a *quad*) in a block row.
  static __device__ __forceinline__ int row_quad() { return lane() / 4; }
  static __device__ __forceinline__ int first_column() { return lane() % 4 * S::lane_columns; }
  /// Calls visit(row, right-hand side, sum) for all of the lane's sums.
  /// @param first_row the block row's first row
  template <class Visit>
  __device__ __forceinline__ void for_elements(Visit&& visit, int first_row) {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < lane_rows; ++r) {
      GAUSSWEEP_UNROLL
      for (int c = 0; c < S::lane_columns; ++c)
        visit(first_row + row_quad() * lane_rows + r, first_column() + c, sums_[r][c]);
    }
  }
  /// Loads the lane's elements of column k of a square, or of the transposed square if not `Down`.
  template <bool Down>
  static __device__ __forceinline__ void load_elements(const T* square, int k, T (&elements)[lane_rows]) {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < lane_rows; ++r) {
      const int row = row_quad() * lane_rows + r;
      elements[r] = square[Down ? row + k * pitch : k + row * pitch];
    }
  }

  /// Subtracts the products of a square off the diagonal with the finished unknowns of a block row.
  template <bool Down>
  __device__ __forceinline__ void subtract(int block_row, const T* square) {
    const T* const unknowns = unknowns_ + block_row * square_order * S::columns + first_column();
    GAUSSWEEP_UNROLL
    for (int k = 0; k < square_order; ++k) {  // elements beyond n are 0
      T elements[lane_rows];
      load_elements<Down>(square, k, elements);
      GAUSSWEEP_UNROLL
      for (int c = 0; c < S::lane_columns; ++c) {
        const T unknown = unknowns[k * S::columns + c];
        GAUSSWEEP_UNROLL
        for (int r = 0; r < lane_rows; ++r) sums_[r][c] = std::fma(-elements[r], unknown, sums_[r][c]);
      }
    }
  }

  /// Solves with the diagonal square of the block row that begins at row `first_row`. The reciprocals of its
  /// diagonal are finite, because the diagonal has square roots.
  template <bool Down>
  __device__ __forceinline__ void substitute(int first_row, const T* square) {
    const int count = min(square_order, n_ - first_row);
    T inverse[lane_rows];
    GAUSSWEEP_UNROLL
    for (int r = 0; r < lane_rows; ++r) {
      inverse[r] = T(1) / square[(row_quad() * lane_rows + r) * (pitch + 1)];
    }
    GAUSSWEEP_ROLLED
    for (int step = 0; step < square_order / lane_rows; ++step) {
      const int quad = Down ? step : square_order / lane_rows - 1 - step;  // of the rows that are solved
      GAUSSWEEP_UNROLL
      for (int i = 0; i < lane_rows; ++i) {
        const int solved = Down ? i : lane_rows - 1 - i, k = quad * lane_rows + solved;
        if (k >= count) continue;
        T elements[lane_rows];
        load_elements<Down>(square, k, elements);
        GAUSSWEEP_UNROLL
        for (int c = 0; c < S::lane_columns; ++c) {
          const T quotient = sums_[solved][c] * inverse[solved],
                  unknown = __shfl_sync(0xffffffffu, quotient, quad * 4 + lane() % 4);
          GAUSSWEEP_UNROLL
          for (int r = 0; r < lane_rows; ++r) {
            const int row = row_quad() * lane_rows + r;
            const T sum = std::fma(-elements[r], unknown, sums_[r][c]);
            sums_[r][c] = (Down ? row > k : row < k) ? sum : row == k ? unknown : sums_[r][c];
          }
        }
      }
    }
  }

  int n_;
  int count_;  ///< the warp's right-hand sides; at most 0 for a warp that only copies
  bool upper_;
  int squares_;
  const T* factor_;
  const T* b_;
  T* x_;
  T* square_memory_;
  T* unknowns_;                         ///< the warp's finished unknowns: [row][right-hand side]
  T sums_[lane_rows][S::lane_columns];  ///< the lane's sums, then unknowns, in a block row
};

template <class T, class S>
__global__ void __launch_bounds__(S::threads) solve_factored(Batch<T> batch) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int groups_per_system = (batch.nrhs + S::group_columns - 1) / S::group_columns;
  const std::int64_t group = static_cast<std::int64_t>(blockIdx.x) * S::groups + (S::single ? warp : 0);
  const std::int64_t system = group / groups_per_system;
  if (system >= batch.count) return;
  const int first_rhs =
      static_cast<int>(group % groups_per_system) * S::group_columns + (S::single ? 0 : warp * S::columns);
  T* const shared = simt::dynamic_shared<T>() + (S::single ? warp * S::group_size(batch.n) : 0);
  Solve<T, S>(batch, shared, system, first_rhs).run();
}

template <class T, class S>
void launch(Context& context, const Batch<T>& batch) {
  const std::int64_t groups_per_system = (batch.nrhs + S::group_columns - 1) / S::group_columns;
  const std::int64_t blocks = (batch.count * groups_per_system + S::groups - 1) / S::groups;
  simt::launch(context, solve_factored<T, S>, dim3(static_cast<unsigned>(blocks)), dim3(S::threads),
               S::template shared_bytes<T>(batch.n), batch);
}

/// Solves A X = B for every system of a batch, from the Cholesky factors in the triangle `uplo` of A. Uses
/// the fastest work split as measured on an H200 (docs/notebook/batches.md) that fits in shared memory.
/// @throws std::runtime_error if a block of the smallest split, with 33 KB, does not fit
template <class T>
void solve(Context& context, Operands<T>& op) {
  context.stage("solve");
  const Shape& shape = op.shape;
  const int n = static_cast<int>(shape.n), nrhs = static_cast<int>(shape.nrhs);
  const Batch<T> batch{shape.batch, n,         nrhs,     /*upper=*/shape.uplo == Uplo::upper,
                       op.a.data,   op.b.data, op.x.data};
  const std::size_t max_bytes = simt::max_shared_bytes(context);
  const auto try_launch = [&](auto split, bool is_wanted) {
    using S = decltype(split);
    if (!is_wanted || S::template shared_bytes<T>(n) > max_bytes) return false;
    launch<T, S>(context, batch);
    return true;
  };
  constexpr auto per_warp = SquareSharing::per_warp, per_block = SquareSharing::per_block;
  const bool is_small = n <= (sizeof(T) == 8 ? 32 : 256);
  if (try_launch(WorkSplit<4, per_block, 4>(), nrhs > 32)) return;
  if (try_launch(WorkSplit<4, per_block, 2>(), nrhs > 16 && is_small)) return;
  if (try_launch(WorkSplit<2, per_block, 4>(), nrhs > 16)) return;
  if (try_launch(WorkSplit<4, per_warp, 4>(), nrhs > 8 && is_small)) return;
  if (try_launch(WorkSplit<2, per_block, 2>(), nrhs > 8)) return;
  if (try_launch(WorkSplit<2, per_warp, 2>(), nrhs > 4)) return;
  if (try_launch(WorkSplit<1, per_warp, 4>(), /*is_wanted=*/true)) return;
  launch<T, WorkSplit<1, per_warp, 1>>(context, batch);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::factored
