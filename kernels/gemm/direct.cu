/// gemm/direct: C = A B from column-major global memory, one thread per element of C, not coalesced.
///
/// J. Soriano, IIT 2011, section 5.2.4 (table 5.13): each thread multiplies its row of A with its column of
/// B. Neighbouring threads have neighbouring columns of column-major matrices. They therefore read the same
/// element of A, but their accesses to B and C are not coalesced. The thesis reports this flaw; gemm/global
/// is the coalesced row-major version.
///
/// Layout: column-major; C is a separate matrix. Cost: 2 m n k operations; every thread loads 2 k elements.
/// Threads of different columns load B from different cache lines. Workspace: none. Accepts matrices of any
/// shape.
///
/// Error: |C - A B| <= g |A| |B| with g = k u / (1 - k u) (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., section 3.5).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "kernels/gemm/strips.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Computes one element of C per thread, in rows from `first_row` on.
template <class T>
__global__ void multiply_strided(MatrixView<T> a, MatrixView<T> b, MatrixView<T> c, std::int64_t first_row) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t row = first_row + static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  if (row >= c.rows || column >= c.cols) return;
  const T* left = a.data + row;
  const T* right = b.data + column * b.ld;
  T sum = 0;
  for (std::int64_t k = 0; k < a.cols; ++k) sum = std::fma(left[k * a.ld], right[k], sum);
  c.data[row + column * c.ld] = sum;
}

}  // namespace

template <class T>
void gemm_direct(Context& context, Operands<T>& op, const Parameters& parameters) {
  const auto tile = static_cast<unsigned>(std::stoi(parameters.choice("tile")));
  const auto tiles = [tile](std::int64_t count) { return static_cast<unsigned>((count + tile - 1) / tile); };
  context.stage("multiply");
  const std::int64_t strip = max_grid_y * tile;  // rows of C that one grid covers
  for (std::int64_t first = 0; first < op.x.rows; first += strip) {
    const dim3 grid(tiles(op.x.cols), tiles(std::min(strip, op.x.rows - first)));
    simt::launch(context, multiply_strided<T>, grid, dim3(tile, tile), 0, op.a, op.b, op.x, first);
  }
}

GAUSSWEEP_INSTANTIATE(gemm_direct)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
