/// gemm/shared: C = A B by square tiles in shared memory, one thread an element of C.
///
/// L. Čejka, ČVUT 2022, section 1.2.6 (listing 1.11), and J. Soriano, IIT 2011, section 5.3: a block computes
/// a tile of C. It goes along its rows of A and down its columns of B; from each pair of tiles that it meets,
/// every thread loads one element of either into shared memory, and adds up the products of its row and
/// column. Here for any m, n and k: what lies beyond the edge is 0.
///
/// The threads of a warp load neighbouring elements (coalesced), read one row of B's tile (no two from one
/// bank) and the same element of A's (a broadcast).
///
/// Layout: row-major; the answer is a matrix of its own. Cost: 2 m n k operations, 2 m n k / tile loads from
/// global memory, and two loads from shared memory a multiply-add, which bound its speed. Workspace: none;
/// shared memory for two tiles. Takes any matrix of any shape.

#include <cmath>
#include <cstdint>

#include "kernels/core/method.hpp"
#include "kernels/simt/simt.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

template <class T, int tile>
__global__ void __launch_bounds__(tile* tile)
    multiply_tiles(MatrixView<T> a, MatrixView<T> b, MatrixView<T> c) {
  alignas(16) __shared__ T a_tile[tile][tile];  // so that several elements of a row are one load
  __shared__ T b_tile[tile][tile];
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * tile + ty;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * tile + tx;
  const bool row_inside = row < c.rows;
  const bool column_inside = column < c.cols;
  const std::int64_t depth = a.cols;
  const T* from_a = a.data + row * a.ld + tx;
  const T* from_b = b.data + ty * b.ld + column;
  T sum = 0;
  for (std::int64_t first = 0; first < depth; first += tile) {
    a_tile[ty][tx] = row_inside && first + tx < depth ? *from_a : T(0);
    b_tile[ty][tx] = column_inside && first + ty < depth ? *from_b : T(0);
    from_a += tile;
    from_b += tile * b.ld;
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum = std::fma(a_tile[ty][k], b_tile[k][tx], sum);
    __syncthreads();  // all are done with these tiles before the next overwrite them
  }
  if (row_inside && column_inside) c.data[row * c.ld + column] = sum;
}

template <class T, int tile>
void multiply(Context& context, Operands<T>& op) {
  const dim3 grid(static_cast<unsigned>((op.shape.n + tile - 1) / tile),
                  static_cast<unsigned>((op.shape.m + tile - 1) / tile));
  simt::launch(context, multiply_tiles<T, tile>, grid, dim3(tile, tile), 0, op.a, op.b, op.x);
}

}  // namespace

template <class T>
void gemm_shared(Context& context, Operands<T>& op, const Parameters& parameters) {
  context.stage("multiply");
  if (parameters.choice("tile") == "32") {
    multiply<T, 32>(context, op);
  } else {
    multiply<T, 16>(context, op);
  }
}

GAUSSWEEP_INSTANTIATE(gemm_shared)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
