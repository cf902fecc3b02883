#pragma once
/// Common parts of trsv/column_sweep, pair_sweep, doubling and doubling_shared. LowerSystem presents an upper
/// triangle as a lower one. solve_pairs solves with the 2 x 2 triangles on the diagonal; it is the first
/// kernel of the course report "Algorithmic Techniques: Dense Lower Triangular Solver".

#include <cmath>
#include <cstdint>

#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// A matrix whose strides may be negative: with reversed rows and columns an upper triangle is a lower one.
template <class T>
struct StridedMatrix {
  T* first;
  std::int64_t row_stride;
  std::int64_t column_stride;
  __device__ T& operator()(std::int64_t i, std::int64_t j) const {
    return first[i * row_stride + j * column_stride];
  }
};

/// The system L x = b with a lower triangle L for either `uplo`.
template <class T>
struct LowerSystem {
  explicit LowerSystem(const Operands<T>& op) : n(op.shape.n), nrhs(op.shape.nrhs) {
    const bool lower = op.shape.uplo == Uplo::lower;
    const std::int64_t stride = lower ? 1 : -1;
    const std::int64_t first = lower ? 0 : n - 1;  // the row of A that becomes row 0 of L
    l = {op.a.data + first * (op.a.ld + 1), stride, stride * op.a.ld};
    b = {op.b.data + first, stride, op.b.ld};
  }
  std::int64_t n;
  std::int64_t nrhs;
  StridedMatrix<T> l;
  StridedMatrix<T> b;
};

/// Return the index of this thread along x or y of the grid.
__device__ inline std::int64_t index_x() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t index_y() {
  return static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
}

/// Returns the number of blocks of `threads` threads for `count` elements.
inline unsigned blocks_of(std::int64_t count, unsigned threads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

/// The thread block shape of solve_pairs, in 2 x 2 blocks of elements. A warp accesses consecutive pairs of
/// rows in the same two columns.
constexpr unsigned patch_rows = 32;
constexpr unsigned patch_columns = 8;

/// Applies to `target` the row operations that turn every 2 x 2 triangle of `system.l` into an identity. Each
/// thread computes a 2 x 2 block. The triangles themselves keep their values, because all threads of their
/// rows read these values. Later steps treat the triangles as identities.
/// @param columns number of columns of `target`
/// @param below_diagonal true: `target` is the part of `system.l` left of the triangles; false: the
/// right-hand sides
template <class T>
__global__ void solve_pairs(LowerSystem<T> system, StridedMatrix<T> target, std::int64_t columns,
                            bool below_diagonal) {
  const std::int64_t i = 2 * index_x();
  const std::int64_t j = 2 * index_y();
  if (i >= system.n || j >= (below_diagonal ? i : columns)) return;
  const bool has_second_row = i + 1 < system.n;  // false for the last row if n is odd
  const T upper_pivot = system.l(i, i);
  const T lower_pivot = has_second_row ? system.l(i + 1, i + 1) : T(1);
  const T factor = has_second_row ? system.l(i + 1, i) / upper_pivot : T(0);
  for (std::int64_t c = j; c < j + 2 && c < columns; ++c) {
    const T upper_element = target(i, c);
    target(i, c) = upper_element / upper_pivot;
    if (has_second_row) target(i + 1, c) = std::fma(-factor, upper_element, target(i + 1, c)) / lower_pivot;
  }
}

/// Applies solve_pairs to the matrix and then to the right-hand sides.
template <class T>
void solve_all_pairs(Context& context, const LowerSystem<T>& system) {
  const dim3 block(patch_rows, patch_columns);
  const auto pairs = [](std::int64_t count) { return (count + 1) / 2; };
  const unsigned down = blocks_of(pairs(system.n), patch_rows);
  constexpr bool below_diagonal = true, whole_rows = false;  // arguments for solve_pairs' `below_diagonal`
  if (system.n > 2) {
    simt::launch(context, solve_pairs<T>, dim3(down, blocks_of(pairs(system.n), patch_columns)), block, 0,
                 system, system.l, system.n, below_diagonal);
  }
  simt::launch(context, solve_pairs<T>, dim3(down, blocks_of(pairs(system.nrhs), patch_columns)), block, 0,
               system, system.b, system.nrhs, whole_rows);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
