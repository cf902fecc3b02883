#pragma once
/// Forward elimination as the Gauss methods share it, after F. Fuhrmann, "Solving Linear Equations With the
/// GPU Architecture", TU Wien 2017, sections 4.3.1 and 4.3.2.
///
/// The matrix is [A | B], row-major, n x columns with columns = n + nrhs. Every product that is subtracted is
/// one fma, so that all backends agree to the bit. Also, x - 1 x is exactly 0, which the test for a zero
/// factor needs.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// What a factor of exactly 0 says about the rows further down the stripe.
enum class ZeroFactor {
  skips_row,   ///< nothing: only this row has nothing to subtract
  ends_stripe  ///< they begin with as many zeros at least, from an earlier stage: the stripe is done
};

/// *info becomes `value` where it is 0 or larger: of all threads that call this, the smallest value stays,
/// whatever their order.
__device__ inline void keep_smallest(int* info, int value) {
  int seen = simt::load_volatile(info);
  while (seen == 0 || seen > value) {
    const int before = atomicCAS(info, seen, value);
    if (before == seen) return;
    seen = before;
  }
}

/// Where the stages of an elimination tell of a zero pivot. The blocks of one stage know nothing of each
/// other, and all of them run to their end. So `own` is the smallest index that any of them met. Only the
/// next stage, which has it as `earlier`, does nothing. `earlier` is null for the first.
struct StageInfo {
  const int* earlier;
  int* own;  ///< 0 before the stage

  /// Whether an earlier stage failed; its index is then handed on. All threads of the block call this and get
  /// the same.
  __device__ bool failed_earlier() const {
    // Nobody writes to `earlier` while this stage runs, and all blocks write the same to `own`.
    if (earlier == nullptr || *earlier == 0) return false;
    if (threadIdx.x == 0) *own = *earlier;
    return true;
  }
};

/// A system's row of the [A | B] of a batch: its columns of B lie behind those of the other systems.
template <class T>
struct RowOfBatch {
  T* data;
  int n;
  std::int64_t gap;
  __device__ T& operator[](int j) const { return data[j < n ? j : j + gap]; }
};
/// Columns between A's last and B's first of system s.
GAUSSWEEP_SHARED_INLINE std::int64_t gap_of(const Shape& shape, std::int64_t s) {
  return (shape.batch - 1 - s) * shape.n + s * shape.nrhs;
}

/// Divides row[first], …, row[columns - 1] by row[first]. Where that is 0, `*info` becomes `index` + 1,
/// unless a smaller one stands there, and the answer is false. All threads of the block call this and get the
/// same.
/// @tparam Row T* or RowOfBatch<T>
template <class Row>
__device__ bool normalise_row(Row row, int first, int columns, int index, int* info) {
  __syncthreads();  // the updates of this row were made by other threads
  const auto divisor = row[first];
  __syncthreads();  // all have read the divisor before its place is overwritten
  if (divisor == 0) {
    if (threadIdx.x == 0) keep_smallest(info, index + 1);
    return false;
  }
  const int threads = static_cast<int>(blockDim.x);
  for (int j = first + static_cast<int>(threadIdx.x); j < columns; j += threads) row[j] /= divisor;
  return true;
}

/// Subtracts target[column] times `row`, which has a 1 there, from `target`, over all columns from 0 as the
/// paper does. False, and nothing done, where target[column] is 0. All threads of the block call this and get
/// the same.
template <class Row>
__device__ bool eliminate_row(Row target, Row row, int column, int columns) {
  const auto factor = target[column];
  __syncthreads();  // all have read the factor before its place is overwritten; and `row` is normalised
                    // throughout
  if (factor == 0) return false;
  const int threads = static_cast<int>(blockDim.x);
  for (int j = static_cast<int>(threadIdx.x); j < columns; j += threads) {
    target[j] = std::fma(-factor, row[j], target[j]);
  }
  return true;
}

/// One stage: stripe p of `stride` eliminates within the rows p, p + stride, p + 2 stride, …. The k-th of
/// them is normalised at column k. With one stripe that is Gaussian elimination without pivoting. With more,
/// the divisors lie off the diagonal, and the matrix is left as a staircase with steps of `stride` rows.
/// @param row_at row i of [A | B]
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

/// A block a stripe (1D grid and block).
template <class T>
__global__ void eliminate_stripe(T* a, std::int64_t ld, int n, int columns, ZeroFactor zero, StageInfo info) {
  if (info.failed_earlier()) return;
  eliminate_rows(blockIdx.x, gridDim.x, n, columns, zero, info.own,
                 [&](std::int64_t i) { return a + i * ld; });
}

/// A block a system of a batch.
template <class T>
__global__ void eliminate_systems(T* a, std::int64_t ld, Shape shape, ZeroFactor zero, int* infos) {
  const std::int64_t s = blockIdx.x;
  const auto n = static_cast<int>(shape.n);
  eliminate_rows(0, 1, n, n + static_cast<int>(shape.nrhs), zero, infos + s, [&](std::int64_t i) {
    return RowOfBatch<T>{a + i * ld + s * n, n, gap_of(shape, s)};
  });
}

/// The threads of a block: the parameter `threads`, where 0 means one a row, as many as fit in a block.
inline int thread_count(const Parameters& parameters, std::int64_t n) {
  const std::int64_t asked = parameters.integer("threads");
  return static_cast<int>(asked > 0 ? asked : std::min<std::int64_t>(n, 1024));
}

/// Launches one stage with `blocks` stripes; of a batch a block a system.
/// @pre of a batch `blocks` is 1
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

/// Calls stage(blocks, info) for the stages of a row-cyclic schedule: with `most` blocks first, then with
/// next(blocks), …, down to one. Takes one int of the workspace, where every other stage tells of a zero
/// pivot; the last tells it in *op.info.
template <class T, class Next, class Stage>
void run_stages(Context& context, Operands<T>& op, int most, Next next, Stage stage) {
  int* spare = op.workspace.template take<int>(1);
  context.device.fill(spare, 0, sizeof(int));
  int stages = 1;
  for (int blocks = most; blocks > 1; blocks = next(blocks)) ++stages;
  const int* earlier = nullptr;
  for (int blocks = most; stages > 0; blocks = next(blocks), --stages) {
    const StageInfo info{earlier, stages % 2 == 1 ? op.info : spare};
    stage(blocks, info);
    earlier = info.own;
  }
}

/// Half of the blocks, rounded up.
inline int half_of(int blocks) {
  return (blocks + 1) / 2;
}
inline int one_less(int blocks) {
  return blocks - 1;
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
