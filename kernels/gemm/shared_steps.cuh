#pragma once
/// The product with tiles in shared memory, used by gemm/shared and poinv/cholesky_gets.

#include <cmath>
#include <cstdint>

#include "kernels/gemm/strips.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// Computes one element of C = A B per thread, all row-major. A thread block has tile x tile threads.
template <class T, int tile>
__global__ void __launch_bounds__(tile* tile)
    multiply_tiles(MatrixView<T> a, MatrixView<T> b, MatrixView<T> c) {
  // Aligned, so that one vector load reads several elements of a row.
  alignas(16) __shared__ T a_tile[tile][tile];
  __shared__ T b_tile[tile][tile];
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * tile + ty;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * tile + tx;
  const bool row_inside = row < c.rows;
  const bool column_inside = column < c.cols;
  const std::int64_t k_count = a.cols;
  const T* from_a = a.data + row * a.ld + tx;
  const T* from_b = b.data + ty * b.ld + column;
  T sum = 0;
  for (std::int64_t first = 0; first < k_count; first += tile) {
    a_tile[ty][tx] = row_inside && first + tx < k_count ? *from_a : T(0);
    b_tile[ty][tx] = column_inside && first + ty < k_count ? *from_b : T(0);
    from_a += tile;
    from_b += tile * b.ld;
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum = std::fma(a_tile[ty][k], b_tile[k][tx], sum);
    __syncthreads();  // the tiles are overwritten in the next iteration
  }
  if (row_inside && column_inside) c.data[row * c.ld + column] = sum;
}

/// Computes C = A B, all row-major. @pre c.rows = a.rows, c.cols = b.cols, a.cols = b.rows
template <class T, int tile>
void tiled_product(Context& context, MatrixView<T> a, MatrixView<T> b, MatrixView<T> c) {
  for_row_strips(a, c, tile, [&](MatrixView<T> a_rows, MatrixView<T> c_rows) {
    const dim3 grid(static_cast<unsigned>((c.cols + tile - 1) / tile),
                    static_cast<unsigned>((c_rows.rows + tile - 1) / tile));
    simt::launch(context, multiply_tiles<T, tile>, grid, dim3(tile, tile), 0, a_rows, b, c_rows);
  });
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
