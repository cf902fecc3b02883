#pragma once
/// Block elimination by doubling for trsv/doubling and trsv/doubling_shared, after the course report
/// "Algorithmic Techniques: Dense Lower Triangular Solver" ("GPU Complex 2").
///
/// Steps have h = 2, 4, 8, … Before step h every h x h triangle on the diagonal is an identity. Rows form
/// groups of 2 h rows; a group begins in row and column g. The step subtracts from each lower row i of a
/// group the upper h rows, times the multipliers l(i, g), …, l(i, g + h - 1). This eliminates the multipliers
/// and changes the elements left of them and the right-hand sides. Afterwards the 2 h x 2 h triangles are
/// identities. The multipliers keep their stored values, because no later step reads them. In a step no
/// thread reads an element that another thread writes, so that threads need no synchronisation.

#include <algorithm>

#include "kernels/trsv/triangle_steps.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// The row operations of step h on one target: the part of l left of the multipliers, or the right-hand
/// sides. One launch processes both targets, in two planes of the grid. The lower rows of all groups are
/// numbered t = 0, 1, …, so that every thread has work.
template <class T>
struct RowOperations {
  LowerSystem<T> system;
  std::int64_t h;  ///< half the number of rows per group
  /// Launch argument: true if the launch also changes l, in grid plane 0. After for_plane(): true if the
  /// target is l, false if it is the right-hand sides.
  bool on_matrix;

  /// Returns the operations of this thread's plane.
  __device__ RowOperations for_plane() const { return {system, h, on_matrix && blockIdx.z == 0}; }

  /// Returns the number of lower rows of all groups.
  __host__ __device__ std::int64_t lower_rows() const {
    const std::int64_t remainder = system.n % (2 * h);
    return system.n / (2 * h) * h + (remainder > h ? remainder - h : 0);
  }
  /// Returns g for lower row t: the first row that is subtracted and the first column of the multipliers.
  __host__ __device__ std::int64_t group(std::int64_t t) const { return t / h * 2 * h; }
  /// Returns the row of the matrix that is lower row t.
  __device__ std::int64_t row(std::int64_t t) const { return group(t) + h + t % h; }
  /// Returns the number of columns of the target that change in lower row t.
  __host__ __device__ std::int64_t columns(std::int64_t t) const {
    return on_matrix ? group(t) : system.nrhs;
  }
  __device__ const StridedMatrix<T>& target() const { return on_matrix ? system.l : system.b; }
};

template <class T>
using RowOperationsKernel = void (*)(RowOperations<T>);

/// Rows and columns per thread block. trsv/doubling_shared has tiles of this size.
constexpr unsigned step_block = 32;

/// Computes one element per thread, with the sum in a register.
template <class T>
__global__ void __launch_bounds__(step_block* step_block) operate_on_rows(RowOperations<T> step) {
  const RowOperations<T> operations = step.for_plane();
  const std::int64_t t = index_x();
  const std::int64_t j = index_y();
  if (t >= operations.lower_rows() || j >= operations.columns(t)) return;
  const StridedMatrix<T> target = operations.target();
  const std::int64_t i = operations.row(t);
  const std::int64_t g = operations.group(t);
  T value = target(i, j);
  for (std::int64_t k = g; k < g + operations.h; ++k)
    value = std::fma(-operations.system.l(i, k), target(k, j), value);
  target(i, j) = value;
}

/// Launches step h with thread blocks of 32 x 32 elements. The last step changes only the right-hand sides.
template <class T>
void launch_row_operations(Context& context, const LowerSystem<T>& system, std::int64_t h,
                           RowOperationsKernel<T> kernel) {
  constexpr bool on_matrix = true;
  const RowOperations<T> matrix{system, h, on_matrix};
  const std::int64_t lower_rows = matrix.lower_rows();
  // The last lower row has the most columns left of its multipliers; 0 in the last step, which has one group.
  const std::int64_t widest = matrix.columns(lower_rows - 1);
  const RowOperations<T> operations{system, h, widest > 0};
  const dim3 grid(blocks_of(lower_rows, step_block), blocks_of(std::max(widest, system.nrhs), step_block),
                  operations.on_matrix ? 2 : 1);
  simt::launch(context, kernel, grid, dim3(step_block, step_block), 0, operations);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
