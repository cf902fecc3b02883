#pragma once
/// Forward elimination for gesv/gauss_block and the gesv/gauss_cyclic methods, after F. Fuhrmann, "Solving
/// Linear Equations With the GPU Architecture", TU Wien 2017, sections 4.3.1 and 4.3.2.
///
/// The matrix is [A | B], row-major, n x columns with columns = n + nrhs. The elimination runs in stages, one
/// launch each. In a stage with p blocks, block s eliminates stripe s: the rows s, s + p, s + 2 p, …. Blocks
/// therefore work on disjoint rows and need not wait for each other. Each later stage has fewer blocks. The
/// last stage has one block, whose stripe is the whole matrix; it makes A upper triangular.
///
/// The multiplier (factor) of a row is the row's element in the pivot column, because the pivot row is
/// divided by the pivot. Each subtracted product is one fma, so that the CPU and the GPU give the same bits.
/// An eliminated element is exactly 0, and later stages recognise it by a comparison with 0.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// The consequence of a multiplier of exactly 0 while one pivot row is subtracted from the rows of its
/// stripe.
enum class ZeroMultiplier {
  skips_row,   ///< the row needs no update; the rows below it may need one
  ends_stripe  ///< an earlier stage has eliminated this column in this and in all later rows of the stripe
};

/// Stores `value` in *info if *info is 0 or larger than `value`. *info thus becomes the smallest value that
/// any thread passes.
__device__ inline void atomic_min_nonzero(int* info, int value) {
  int current = simt::load_volatile(info);
  while (current == 0 || current > value) {
    const int previous = atomicCAS(info, current, value);
    if (previous == current) return;
    current = previous;
  }
}

/// The addresses of two ints: the row (from 1) of the first zero pivot in the previous stage, and the same
/// for the current stage. The int is 0 if no pivot was 0. A stage fails if a pivot is 0. Its blocks do not
/// communicate: every block runs until its stripe ends or until one of its own pivots is 0. After a failed
/// stage, the later stages do nothing.
struct StageInfo {
  const int* previous;  ///< null in the first stage
  int* current;         ///< *current is 0 before the stage

  /// Returns true if an earlier stage failed, and copies its row number to *current. All threads of the block
  /// must call this; all get the same answer.
  __device__ bool failed_earlier() const {
    // No block writes *previous during this stage, and all blocks write the same value to *current.
    if (previous == nullptr || *previous == 0) return false;
    if (threadIdx.x == 0) *current = *previous;
    return true;
  }
};

/// A row of one system in a batch. A batch is stored as [A_0 … A_(batch-1) | B_0 … B_(batch-1)]. Columns of
/// other systems therefore lie between a system's A and its B.
template <class T>
struct BatchRow {
  T* data;
  int n;
  std::int64_t skipped_columns;  ///< columns between the system's A and B (columns_between_a_and_b)
  __device__ T& operator[](int j) const { return data[j < n ? j : j + skipped_columns]; }
};
/// Returns the number of columns between the last column of A and the first column of B of system s.
GAUSSWEEP_SHARED_INLINE std::int64_t columns_between_a_and_b(const Shape& shape, std::int64_t s) {
  return (shape.batch - 1 - s) * shape.n + s * shape.nrhs;
}

/// Divides row[first], …, row[columns - 1] by row[first]. If row[first] is 0, reports `row_index` + 1 to
/// atomic_min_nonzero and returns false. All threads of the block must call this; all get the same answer.
/// @tparam Row T* or BatchRow<T>
template <class Row>
__device__ bool normalise_row(Row row, int first, int columns, int row_index, int* info) {
  __syncthreads();  // waits until other threads have finished their updates of this row
  const auto divisor = row[first];
  __syncthreads();  // row[first] is overwritten below
  if (divisor == 0) {
    if (threadIdx.x == 0) atomic_min_nonzero(info, row_index + 1);
    return false;
  }
  const int threads = static_cast<int>(blockDim.x);
  for (int j = first + static_cast<int>(threadIdx.x); j < columns; j += threads) row[j] /= divisor;
  return true;
}

/// Subtracts target[column] times `pivot_row` from `target`, in all columns from 0 as in the thesis. Returns
/// false and does nothing if target[column] is 0. All threads of the block must call this; all get the same
/// answer. @pre pivot_row[column] is 1
template <class Row>
__device__ bool eliminate_row(Row target, Row pivot_row, int column, int columns) {
  const auto factor = target[column];
  __syncthreads();  // target[column] is overwritten below, and all of `pivot_row` must be normalised
  if (factor == 0) return false;
  const int threads = static_cast<int>(blockDim.x);
  for (int j = static_cast<int>(threadIdx.x); j < columns; j += threads) {
    target[j] = std::fma(-factor, pivot_row[j], target[j]);
  }
  return true;
}

/// Eliminates one stripe in one stage: the rows `first`, `first` + stride, `first` + 2 stride, …. The k-th of
/// these rows (from 0) is the pivot row of column k. With stride 1 this is Gaussian elimination without
/// pivoting. With a larger stride most pivots are off-diagonal elements, and the stage leaves a staircase
/// with steps of `stride` rows.
/// @param row_at returns row i of [A | B]
template <class RowAt>
__device__ void eliminate_rows(std::int64_t first, std::int64_t stride, int n, int columns,
                               ZeroMultiplier zero, int* info, RowAt&& row_at) {
  int column = 0;
  for (std::int64_t i = first; i < n; i += stride, ++column) {
    const auto pivot_row = row_at(i);
    if (!normalise_row(pivot_row, column, columns, static_cast<int>(i), info)) return;
    for (std::int64_t below = i + stride; below < n; below += stride) {
      if (!eliminate_row(row_at(below), pivot_row, column, columns) && zero == ZeroMultiplier::ends_stripe)
        break;
    }
  }
}

/// Eliminates one stripe per block. Grid and block are one-dimensional.
template <class T>
__global__ void eliminate_stripe(T* a, std::int64_t ld, int n, int columns, ZeroMultiplier zero,
                                 StageInfo info) {
  if (info.failed_earlier()) return;
  eliminate_rows(blockIdx.x, gridDim.x, n, columns, zero, info.current,
                 [&](std::int64_t i) { return a + i * ld; });
}

/// Eliminates one system of a batch per block.
template <class T>
__global__ void eliminate_systems(T* a, std::int64_t ld, Shape shape, ZeroMultiplier zero, int* infos) {
  const std::int64_t s = blockIdx.x;
  const auto n = static_cast<int>(shape.n);
  eliminate_rows(/*first=*/0, /*stride=*/1, n, n + static_cast<int>(shape.nrhs), zero, infos + s,
                 [&](std::int64_t i) {
                   return BatchRow<T>{a + i * ld + s * n, n, columns_between_a_and_b(shape, s)};
                 });
}

/// Returns the number of threads per block: the parameter `threads` or, if it is 0, the smaller of n and
/// 1024.
inline int thread_count(const Parameters& parameters, std::int64_t n) {
  const std::int64_t requested = parameters.integer("threads");
  return static_cast<int>(requested > 0 ? requested : std::min<std::int64_t>(n, 1024));
}

/// Launches one stage with `blocks` stripes, or with one block per system of a batch.
/// @pre `blocks` is 1 for a batch
template <class T>
void eliminate(Context& context, Operands<T>& op, int blocks, int threads, ZeroMultiplier zero,
               StageInfo info) {
  if (op.shape.batch > 1) {
    simt::launch(context, eliminate_systems<T>, dim3(static_cast<unsigned>(op.shape.batch)),
                 dim3(static_cast<unsigned>(threads)), 0, op.a.data, op.a.ld, op.shape, zero, info.current);
    return;
  }
  simt::launch(context, eliminate_stripe<T>, dim3(static_cast<unsigned>(blocks)),
               dim3(static_cast<unsigned>(threads)), 0, op.a.data, op.a.ld, static_cast<int>(op.shape.n),
               static_cast<int>(op.a.cols), zero, info);
}

/// Calls stage(blocks, info) for each stage, with `max_blocks` blocks, then next(max_blocks) blocks, …, down
/// to one block. The stages write the rows of zero pivots alternately to one int of the workspace and to
/// *op.info. A stage thus reads the int of the previous stage while it writes the other one. The last stage
/// writes to *op.info.
template <class T, class Next, class Stage>
void run_stages(Context& context, Operands<T>& op, int max_blocks, Next next, Stage stage) {
  int* spare_info = op.workspace.template take<int>(1);
  context.device.fill(spare_info, 0, sizeof(int));
  int remaining = 1;  // stages that are still to run
  for (int blocks = max_blocks; blocks > 1; blocks = next(blocks)) ++remaining;
  const int* previous = nullptr;
  for (int blocks = max_blocks; remaining > 0; blocks = next(blocks), --remaining) {
    const StageInfo info{previous, remaining % 2 == 1 ? op.info : spare_info};
    stage(blocks, info);
    previous = info.current;
  }
}

/// The functions that run_stages takes as `next`. halved() rounds up.
inline int halved(int blocks) {
  return (blocks + 1) / 2;
}
inline int decremented(int blocks) {
  return blocks - 1;
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
