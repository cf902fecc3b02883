#pragma once
/// Block elimination by doubling, as trsv/doubling and trsv/doubling_shared share it, after the course report
/// "Algorithmic Techniques: Dense Lower Triangular Solver" ("GPU Complex 2").
///
/// Before step i (2, 4, 8, …) every i x i triangle on the diagonal is an identity. Rows come in groups of 2
/// i, of which the upper i are left alone. The upper rows are subtracted from each lower row y, whose group
/// begins in row and column g. Each is subtracted as often as its multiplier l(y, g), …, l(y, g + i - 1)
/// says. Those become 0, and what lies left of them, and the right-hand sides, change. After that the 2 i x 2
/// i triangles are identities. The multipliers are left as they stand: nobody reads them again. All that a
/// step reads is left alone by it, so its order does not matter.

#include <algorithm>

#include "kernels/trsv/triangle_steps.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// Step i on one target: what lies left of the multipliers in l, or the right-hand sides. A launch does both,
/// in one plane of the grid each. The lower rows of all groups are numbered through by t = 0, 1, …, so that
/// no thread has a row without work.
template <class T>
struct RowOperations {
  LowerSystem<T> s;
  std::int64_t i;
  bool on_matrix;  ///< else on the right-hand sides, as planes of the grid but the first are

  /// This thread's target.
  __device__ RowOperations here() const { return {s, i, on_matrix && blockIdx.z == 0}; }

  __host__ __device__ std::int64_t lower_rows() const {
    const std::int64_t rest = s.n % (2 * i);
    return s.n / (2 * i) * i + (rest > i ? rest - i : 0);
  }
  /// Where the group of lower row t begins: first row that is subtracted, first column of its multipliers.
  __host__ __device__ std::int64_t group(std::int64_t t) const { return t / i * 2 * i; }
  __device__ std::int64_t row(std::int64_t t) const { return group(t) + i + t % i; }
  /// Columns of the target that change in lower row t.
  __host__ __device__ std::int64_t columns(std::int64_t t) const { return on_matrix ? group(t) : s.nrhs; }
  __device__ const Lines<T>& target() const { return on_matrix ? s.l : s.b; }
};

template <class T>
using RowOperationsKernel = void (*)(RowOperations<T>);

/// A step without tiles has blocks of 32 x 32 threads, like one with them.
constexpr unsigned step_block = 32;

/// A thread an element, the sum in a register.
template <class T>
__global__ void __launch_bounds__(step_block* step_block) operate_on_rows(RowOperations<T> step) {
  const RowOperations<T> o = step.here();
  const std::int64_t t = index_x();
  const std::int64_t x = index_y();
  if (t >= o.lower_rows() || x >= o.columns(t)) return;
  const Lines<T> target = o.target();
  const std::int64_t y = o.row(t);
  const std::int64_t g = o.group(t);
  T value = target(y, x);
  for (std::int64_t d = g; d < g + o.i; ++d) value = std::fma(-o.s.l(y, d), target(d, x), value);
  target(y, x) = value;
}

/// Step i in one launch, in blocks of 32 x 32 elements. The last step has no matrix left to work on.
template <class T>
void launch_row_operations(Context& context, const LowerSystem<T>& s, std::int64_t i,
                           RowOperationsKernel<T> kernel) {
  const RowOperations<T> matrix{s, i, true};
  const std::int64_t lower_rows = matrix.lower_rows();
  const std::int64_t widest = matrix.columns(lower_rows - 1);
  const RowOperations<T> o{s, i, widest > 0};
  const dim3 grid(blocks_of(lower_rows, step_block), blocks_of(std::max(widest, s.nrhs), step_block),
                  o.on_matrix ? 2 : 1);
  simt::launch(context, kernel, grid, dim3(step_block, step_block), 0, o);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
