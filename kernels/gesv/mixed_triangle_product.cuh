#pragma once
/// The product with a symmetric matrix in an iteration of posv/mixed_gmres. Reads only the stored triangle,
/// once.

#include "kernels/gesv/mixed_vectors.cuh"

namespace gaussweep::cuda::mixed {

/// Computes partial sums of A C y for a symmetric matrix A with one stored triangle. Stores them as an array
/// partial(row, band), where a band is 128 columns of A. Each block multiplies a 128 x 128 tile of the
/// triangle and, off the diagonal, also the transposed tile. Raises result->y to max |y|.
template <class T, class Y>
__global__ void __launch_bounds__(group)
    multiply_triangle(const T* a, std::int64_t lda, int n, bool upper, const Y* y, const double* column_scale,
                      double* partial, std::int64_t ld, Readings* result) {
  if (upper ? blockIdx.x > blockIdx.y : blockIdx.x < blockIdx.y) return;
  constexpr int warps = group / 32, columns = band / warps, rows = band / 32;  // per warp, and per thread
  static_assert(group == 2 * band && columns == 16,
                "one thread per row and per column of a tile; the reduction below needs 16 columns per warp");
  __shared__ double x[2 * band];  // elements of C y for the tile's rows, then for its columns
  __shared__ double row_sums[warps][band], column_sums[band];
  const bool diagonal = blockIdx.x == blockIdx.y;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int first_row = static_cast<int>(blockIdx.x) * band;
  const int first_column = static_cast<int>(blockIdx.y) * band;
  const int index = thread < band ? first_row + thread : first_column + thread - band;
  const double value_of_y = index < n ? static_cast<double>(y[index]) : 0.0;
  if (diagonal) atomic_max_of_warp(&result->y, value_of_y);
  x[thread] = index < n ? column_scale[index] * value_of_y : 0.0;
  __syncthreads();
  double row_sum[rows] = {}, column_sum[columns];
#pragma unroll
  for (int c = 0; c < columns; c += 4) {
    T value[4][rows];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int column = first_column + warp * columns + c + i;
#pragma unroll
      for (int v = 0; v < rows; ++v) {
        const int row = first_row + lane + 32 * v;
        const bool inside = row < n && column < n && (upper ? row <= column : row >= column);
        value[i][v] = inside ? a[row + column * lda] : T(0);
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int tile_column = warp * columns + c + i;
      double sum = 0;
#pragma unroll
      for (int v = 0; v < rows; ++v) {
        const auto element = static_cast<double>(value[i][v]);
        row_sum[v] = std::fma(element, x[band + tile_column], row_sum[v]);
        const bool on_diagonal = diagonal && lane + 32 * v == tile_column;
        sum = std::fma(on_diagonal ? 0.0 : element, x[lane + 32 * v], sum);
      }
      column_sum[c + i] = sum;
    }
  }
  // Reduces 16 sums over the lanes: at each step a lane keeps half of its sums and sends the other half.
#pragma unroll
  for (int half = columns / 2; half > 0; half /= 2) {
    const bool high = (lane & 2 * half) != 0;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const double remaining = high ? column_sum[i + half] : column_sum[i];
      const double sent = high ? column_sum[i] : column_sum[i + half];
      column_sum[i] = remaining + __shfl_xor_sync(0xffffffffu, sent, 2 * half);
    }
  }
  column_sum[0] += __shfl_xor_sync(0xffffffffu, column_sum[0], 1);
  if (lane % 2 == 0) column_sums[warp * columns + lane / 2] = column_sum[0];
#pragma unroll
  for (int v = 0; v < rows; ++v) row_sums[warp][lane + 32 * v] = row_sum[v];
  __syncthreads();
  if (index >= n || (diagonal && thread >= band)) return;
  if (thread >= band) {
    partial[index + blockIdx.x * ld] = column_sums[thread - band];
    return;
  }
  double sum = diagonal ? column_sums[thread] : 0.0;
#pragma unroll
  for (int w = 0; w < warps; ++w) sum += row_sums[w][thread];
  partial[index + blockIdx.y * ld] = sum;
}

}  // namespace gaussweep::cuda::mixed
