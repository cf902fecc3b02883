/// gesv/gauss_jordan_shared: Gauss-Jordan elimination with partial pivoting, by tiles in shared memory.
///
/// X. Xia and J. C. Lee, "Modified CUDA Gaussian Elimination" (gauss_jordan_steps.cuh): in every iteration a
/// thread an element; a block first loads its piece of the multipliers and its piece of the pivot row into
/// shared memory, an element of either for every row and column of the tile.
///
/// Layout: [A | B] in rows; the answer replaces B. Cost: n^3 / 2 multiply-adds, n^3 elements moved (twice of
/// both where `grid` is full), and per column a transfer to the host, for which the device waits (the paper's
/// choice). Workspace: n elements. Needs a nonsingular matrix: a column without a nonzero pivot gives info >
/// 0, and the method ends there. The residual grows with the condition of the matrix, whatever the pivots: on
/// a Hilbert or Cauchy matrix the answer fails where elimination with back substitution passes.

#include "kernels/gesv/gauss_jordan_steps.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

template <class T, int tile>
__global__ void __launch_bounds__(tile* tile) eliminate_from_shared(Elimination<T> e) {
  __shared__ T multipliers[tile];
  __shared__ T pivot_row[tile];
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * tile;
  const std::int64_t j = first_row + ty;
  const std::int64_t c = e.first + static_cast<std::int64_t>(blockIdx.x) * tile + tx;
  if (ty == 0 && first_row + tx < e.a.rows) multipliers[tx] = e.multipliers[first_row + tx];
  if (ty == 1 && c < e.a.cols) pivot_row[tx] = e.a.data[e.i * e.a.ld + c];
  __syncthreads();
  if (e.has(j, c)) e.subtract(j, c, multipliers[ty], pivot_row[tx]);
}

}  // namespace

template <class T>
void gesv_gauss_jordan_shared(Context& context, Operands<T>& op, const Parameters& parameters) {
  if (parameters.choice("tile") == "32") {
    gauss_jordan<T>(context, op, parameters, eliminate_from_shared<T, 32>, 32);
  } else {
    gauss_jordan<T>(context, op, parameters, eliminate_from_shared<T, 16>, 16);
  }
}

GAUSSWEEP_INSTANTIATE(gesv_gauss_jordan_shared)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
