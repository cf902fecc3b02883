#pragma once
/// Forward elimination of the Gauss methods, after F. Fuhrmann, "Solving Linear Equations With the GPU
/// Architecture", TU Wien 2017, sections 4.3.1 and 4.3.2.
///
/// The matrix is [A | B], row-major, n x columns with columns = n + nrhs. Each subtracted product is one fma,
/// so that all backends give the same bits, and so that x - 1 x is exactly 0 (the test for a zero factor
/// relies on this).

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// The effect of a factor that is exactly 0. A stripe is the set of rows that one block eliminates.
enum class ZeroFactor {
  skips_row,   ///< only this row is skipped
  ends_stripe  ///< the stripe ends: an earlier stage has eliminated this row and the rows below in the stripe
};

/// Stores `value` in *info if *info is 0 or larger than `value`. *info thus becomes the smallest value of all
/// calling threads.
__device__ inline void keep_smallest(int* info, int value) {
  int current = simt::load_volatile(info);
  while (current == 0 || current > value) {
    const int previous = atomicCAS(info, current, value);
    if (previous == current) return;
    current = previous;
  }
}

/// The zero pivots that this stage and the stage before report. The blocks of one stage do not communicate
/// and all run to their end, so `own` is the smallest pivot index at which any block failed. The next stage
/// reads this index as `earlier` and then does nothing. `earlier` is null for the first stage.
struct StageInfo {
  const int* earlier;
  int* own;  ///< 0 before the stage

  /// Returns true if an earlier stage failed, and copies its index to `own`. All threads of the block must
  /// call this; all get the same answer.
  __device__ bool failed_earlier() const {
    // No block writes `earlier` during this stage, and all blocks write the same value to `own`.
    if (earlier == nullptr || *earlier == 0) return false;
    if (threadIdx.x == 0) *own = *earlier;
    return true;
  }
};

/// A row of one system in the [A | B] of a batch. The system's columns of B lie behind the columns of A of
/// all systems.
template <class T>
struct BatchRow {
  T* data;
  int n;
  std::int64_t gap;
  __device__ T& operator[](int j) const { return data[j < n ? j : j + gap]; }
};
/// Returns the number of columns between the last column of A and the first column of B of system s.
GAUSSWEEP_SHARED_INLINE std::int64_t gap_of(const Shape& shape, std::int64_t s) {
  return (shape.batch - 1 - s) * shape.n + s * shape.nrhs;
}

/// Divides row[first], …, row[columns - 1] by row[first]. If row[first] is 0, lowers `*info` to `index` + 1
/// (keep_smallest) and returns false. All threads of the block must call this; all get the same answer.
/// @tparam Row T* or BatchRow<T>
template <class Row>
__device__ bool normalise_row(Row row, int first, int columns, int index, int* info) {
  __syncthreads();  // waits until other threads have finished their updates of this row
  const auto divisor = row[first];
  __syncthreads();  // row[first] is overwritten below
  if (divisor == 0) {
    if (threadIdx.x == 0) keep_smallest(info, index + 1);
    return false;
  }
  const int threads = static_cast<int>(blockDim.x);
  for (int j = first + static_cast<int>(threadIdx.x); j < columns; j += threads) row[j] /= divisor;
  return true;
}

/// Subtracts target[column] times `row` from `target`, over all columns from 0 as in the thesis. @pre
/// row[column] is 1. Returns false and does nothing if target[column] is 0. All threads of the block must
/// call this; all get the same answer.
template <class Row>
__device__ bool eliminate_row(Row target, Row row, int column, int columns) {
  const auto factor = target[column];
  __syncthreads();  // target[column] is overwritten below, and `row` must be normalised completely
  if (factor == 0) return false;
  const int threads = static_cast<int>(blockDim.x);
  for (int j = static_cast<int>(threadIdx.x); j < columns; j += threads) {
    target[j] = std::fma(-factor, row[j], target[j]);
  }
  return true;
}

/// Eliminates one stripe of one stage: the rows `first`, `first` + stride, `first` + 2 stride, …. The k-th of
/// these rows is normalised at column k. With stride 1 this is Gaussian elimination without pivoting. With
/// more stripes, divisors lie off the diagonal, and the stage leaves a staircase with steps of `stride` rows.
/// @param row_at returns row i of [A | B]
template <class RowAt>
__device__ void eliminate_rows(std::int64_t first, std::int64_t stride, int n, int columns, ZeroFactor zero,
                               int* info, RowAt&& row_at) {
  int column = 0;
  for (std::int64_t i = first; i < n; i += stride, ++column) {
    const auto row = row_at(i);
    if (!normalise_row(row, column, columns, static_cast<int>(i), info)) return;
    for (std::int64_t y = i + stride; y < n; y += stride) {
      if (!eliminate_row(row_at(y), row, column, columns) && zero == ZeroFactor::ends_stripe) break;
    }
  }
}

/// Eliminates one stripe per block (1D grid and block).
template <class T>
__global__ void eliminate_stripe(T* a, std::int64_t ld, int n, int columns, ZeroFactor zero, StageInfo info) {
  if (info.failed_earlier()) return;
  eliminate_rows(blockIdx.x, gridDim.x, n, columns, zero, info.own,
                 [&](std::int64_t i) { return a + i * ld; });
}

/// Eliminates one system of a batch per block.
template <class T>
__global__ void eliminate_systems(T* a, std::int64_t ld, Shape shape, ZeroFactor zero, int* infos) {
  const std::int64_t s = blockIdx.x;
  const auto n = static_cast<int>(shape.n);
  eliminate_rows(0, 1, n, n + static_cast<int>(shape.nrhs), zero, infos + s, [&](std::int64_t i) {
    return BatchRow<T>{a + i * ld + s * n, n, gap_of(shape, s)};
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
void eliminate(Context& context, Operands<T>& op, int blocks, int threads, ZeroFactor zero, StageInfo info) {
  if (op.shape.batch > 1) {
    simt::launch(context, eliminate_systems<T>, dim3(static_cast<unsigned>(op.shape.batch)),
                 dim3(static_cast<unsigned>(threads)), 0, op.a.data, op.a.ld, op.shape, zero, info.own);
    return;
  }
  simt::launch(context, eliminate_stripe<T>, dim3(static_cast<unsigned>(blocks)),
               dim3(static_cast<unsigned>(threads)), 0, op.a.data, op.a.ld, static_cast<int>(op.shape.n),
               static_cast<int>(op.a.cols), zero, info);
}

/// Calls stage(blocks, info) for each stage of a row-cyclic schedule: first with `max_blocks`, then with
/// next(blocks), …, down to one block. Successive stages report zero pivots alternately in one int of the
/// workspace and in *op.info, such that the last stage uses *op.info.
template <class T, class Next, class Stage>
void run_stages(Context& context, Operands<T>& op, int max_blocks, Next next, Stage stage) {
  int* spare = op.workspace.template take<int>(1);
  context.device.fill(spare, 0, sizeof(int));
  int stages = 1;
  for (int blocks = max_blocks; blocks > 1; blocks = next(blocks)) ++stages;
  const int* earlier = nullptr;
  for (int blocks = max_blocks; stages > 0; blocks = next(blocks), --stages) {
    const StageInfo info{earlier, stages % 2 == 1 ? op.info : spare};
    stage(blocks, info);
    earlier = info.own;
  }
}

/// Returns half of the blocks, rounded up.
inline int halved(int blocks) {
  return (blocks + 1) / 2;
}
inline int decremented(int blocks) {
  return blocks - 1;
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
