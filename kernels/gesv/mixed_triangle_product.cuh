#pragma once
/// The product with a symmetric matrix in an iteration of posv/mixed_gmres. Reads only the stored triangle,
/// once.

#include "kernels/gesv/mixed_vectors.cuh"

namespace gaussweep::cuda::mixed {

/// Computes partial sums of A C y for a symmetric matrix A with one stored triangle and a diagonal matrix C
/// (mixed_steps.cuh). Each block multiplies a 128 x 128 tile of the triangle and, off the diagonal, also the
/// transposed tile. Stores the sums as an array partial(row, t), where t is the tile column of the full
/// matrix whose elements were multiplied. Replaces result->max_y by max |y| if that is larger.
template <class T, class YElement>
__global__ void __launch_bounds__(block_threads)
    multiply_triangle(const T* a, std::int64_t lda, int n, bool upper, const YElement* y,
                      const double* column_scale, double* partial, std::int64_t ld,
                      IterationMeasurements* result) {
  if (upper ? blockIdx.x > blockIdx.y : blockIdx.x < blockIdx.y) return;
  constexpr int warps = block_threads / 32, warp_columns = triangle_tile_order / warps,
                lane_rows = triangle_tile_order / 32;  // a warp multiplies 16 columns, a lane 4 of their rows
  static_assert(block_threads == 2 * triangle_tile_order && warp_columns == 16,
                "one thread per row and per column of a tile; the reduction below needs 16 columns per warp");
  __shared__ double x[2 * triangle_tile_order];  // elements of C y for the tile's rows, then for its columns
  __shared__ double row_sums[warps][triangle_tile_order], column_sums[triangle_tile_order];
  const bool diagonal = blockIdx.x == blockIdx.y;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int first_row = static_cast<int>(blockIdx.x) * triangle_tile_order;
  const int first_column = static_cast<int>(blockIdx.y) * triangle_tile_order;
  const int index =
      thread < triangle_tile_order ? first_row + thread : first_column + thread - triangle_tile_order;
  const double value_of_y = index < n ? static_cast<double>(y[index]) : 0.0;
  if (diagonal) atomic_max_of_warp(&result->max_y, value_of_y);
  x[thread] = index < n ? column_scale[index] * value_of_y : 0.0;
  __syncthreads();
  double row_sum[lane_rows] = {}, column_sum[warp_columns];
#pragma unroll
  for (int c = 0; c < warp_columns; c += 4) {
    T value[4][lane_rows];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int column = first_column + warp * warp_columns + c + i;
#pragma unroll
      for (int v = 0; v < lane_rows; ++v) {
        const int row = first_row + lane + 32 * v;
        const bool inside = row < n && column < n && (upper ? row <= column : row >= column);
        value[i][v] = inside ? a[row + column * lda] : T(0);
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int tile_column = warp * warp_columns + c + i;
      double sum = 0;
#pragma unroll
      for (int v = 0; v < lane_rows; ++v) {
        const auto element = static_cast<double>(value[i][v]);
        row_sum[v] = std::fma(element, x[triangle_tile_order + tile_column], row_sum[v]);
        const bool on_diagonal = diagonal && lane + 32 * v == tile_column;
        sum = std::fma(on_diagonal ? 0.0 : element, x[lane + 32 * v], sum);
      }
      column_sum[c + i] = sum;
    }
  }
  // Reduces 16 column sums over the lanes: at each step a lane keeps half of its sums and sends the other
  // half. At the end lanes 2 c and 2 c + 1 have two parts of the sum of column c.
#pragma unroll
  for (int half = warp_columns / 2; half > 0; half /= 2) {
    const bool high = (lane & 2 * half) != 0;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const double remaining = high ? column_sum[i + half] : column_sum[i];
      const double sent = high ? column_sum[i] : column_sum[i + half];
      column_sum[i] = remaining + __shfl_xor_sync(0xffffffffu, sent, 2 * half);
    }
  }
  column_sum[0] += __shfl_xor_sync(0xffffffffu, column_sum[0], 1);
  if (lane % 2 == 0) column_sums[warp * warp_columns + lane / 2] = column_sum[0];
#pragma unroll
  for (int v = 0; v < lane_rows; ++v) row_sums[warp][lane + 32 * v] = row_sum[v];
  __syncthreads();
  if (index >= n || (diagonal && thread >= triangle_tile_order)) return;
  if (thread >= triangle_tile_order) {  // the transposed tile: its rows are this tile's columns
    partial[index + blockIdx.x * ld] = column_sums[thread - triangle_tile_order];
    return;
  }
  double sum = diagonal ? column_sums[thread] : 0.0;
#pragma unroll
  for (int w = 0; w < warps; ++w) sum += row_sums[w][thread];
  partial[index + blockIdx.y * ld] = sum;
}

}  // namespace gaussweep::cuda::mixed
