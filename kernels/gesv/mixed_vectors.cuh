#pragma once
/// Vector kernels of the GMRES iteration in the mixed-precision solvers: products with the matrix, and
/// orthogonalisation of the basis V of the Krylov space. R and C are the diagonal scaling matrices of
/// mixed_steps.cuh. A *direction* is a basis vector to which the preconditioner was applied.
///
/// A vector consists of one column per right-hand side, with leading dimension `ld`; blockIdx.y selects the
/// right-hand side, except in multiply_slice. Partial sums over column slices (ranges of columns of A), or
/// over row blocks (the 256 rows of a thread block), are added in a fixed order. Every run therefore gives
/// the same bits.

#include "kernels/gesv/mixed_steps.cuh"

namespace gaussweep::cuda::mixed {

/// Measurements of one right-hand side during an iteration, for the host. The maxima start at 0.
struct IterationMeasurements {
  /// A column of the Hessenberg matrix. At the start of a cycle h[0] is the 2-norm of the residual.
  double h[max_iterations_per_cycle + 2];
  DoubleBits max_y;  ///< max |y|, where x = C y
  DoubleBits max_r;  ///< max |b - A x|
};
static_assert(sizeof(IterationMeasurements) == iteration_measurement_doubles * sizeof(double));

/// Sets the maxima to 0, with one thread per right-hand side.
static __global__ void clear_maxima(IterationMeasurements* result, int nrhs) {
  const int r = static_cast<int>(threadIdx.x);
  if (r < nrhs) result[r].max_y = result[r].max_r = 0;
}

/// Computes the partial sums of A C Y for `nrhs` <= RhsPerThread right-hand sides. blockIdx.y is the slice, a
/// range of `columns` columns of A. Stores the sums as an array partial(row, slice, right-hand side). A
/// thread multiplies `thread_rows` rows, which are `block_threads` apart. Replaces result[r].max_y by max |y|
/// of right-hand side r if that is larger.
template <class T, class YElement, int RhsPerThread>
__global__ void __launch_bounds__(block_threads)
    multiply_slice(const T* a, std::int64_t lda, int n, int columns, const YElement* y, int nrhs,
                   const double* column_scale, double* partial, std::int64_t ld,
                   IterationMeasurements* result) {
  constexpr int thread_rows = rows_per_thread(RhsPerThread);
  constexpr int unrolled = 8 / thread_rows;  // columns loaded before they are used
  // Independent sums per row and right-hand side. With one right-hand side, four sums shorten the dependency
  // chain of fmas.
  constexpr int chains = RhsPerThread == 1 ? 4 : 1;
  __shared__ __align__(16) double x[block_threads * RhsPerThread];  // x[column][right-hand side]
  const int thread = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.x) * thread_rows * block_threads + thread;
  const int begin = static_cast<int>(blockIdx.y) * columns;
  const int end = min(n, begin + columns);
  // The rows' first elements. Rows beyond the matrix read the last row instead, and their sums are not
  // stored.
  const T* row_start[thread_rows];
#pragma unroll
  for (int v = 0; v < thread_rows; ++v) row_start[v] = a + min(row + v * block_threads, n - 1);
  double sum[thread_rows][RhsPerThread][chains] = {};
  // Adds the products with one column of A. x is read in pairs of right-hand sides, 16 bytes at a time.
  const auto add = [&](const T(&value)[thread_rows], int c, int chain) {
#pragma unroll
    for (int r = 0; r < RhsPerThread; r += RhsPerThread == 1 ? 1 : 2) {
      double x_pair[2];
      if constexpr (RhsPerThread == 1) {
        x_pair[0] = x[c];
      } else {
        const auto pair = *reinterpret_cast<const double2*>(x + c * RhsPerThread + r);
        x_pair[0] = pair.x, x_pair[1] = pair.y;
      }
#pragma unroll
      for (int q = 0; q < (RhsPerThread == 1 ? 1 : 2); ++q) {
#pragma unroll
        for (int v = 0; v < thread_rows; ++v) {
          sum[v][r + q][chain] = std::fma(static_cast<double>(value[v]), x_pair[q], sum[v][r + q][chain]);
        }
      }
    }
  };
  for (int first = begin; first < end; first += block_threads) {
    const int count = min(block_threads, end - first);
    const int column = first + thread;
    const double scale = thread < count ? column_scale[column] : 0.0;
#pragma unroll
    for (int r = 0; r < RhsPerThread; ++r) {
      const bool inside = thread < count && r < nrhs;
      const double value_of_y = inside ? static_cast<double>(y[column + r * ld]) : 0.0;
      x[thread * RhsPerThread + r] = scale * value_of_y;
      if (blockIdx.x == 0 && r < nrhs) atomic_max_of_warp(&result[r].max_y, value_of_y);
    }
    __syncthreads();
    int c = 0;
    for (; c + unrolled <= count; c += unrolled) {
      T value[unrolled][thread_rows];
#pragma unroll
      for (int i = 0; i < unrolled; ++i) {
#pragma unroll
        for (int v = 0; v < thread_rows; ++v) value[i][v] = row_start[v][(first + c + i) * lda];
      }
#pragma unroll
      for (int i = 0; i < unrolled; ++i) add(value[i], c + i, i % chains);
    }
    for (; c < count; ++c) {
      T value[thread_rows];
#pragma unroll
      for (int v = 0; v < thread_rows; ++v) value[v] = row_start[v][(first + c) * lda];
      add(value, c, 0);
    }
    __syncthreads();
  }
#pragma unroll
  for (int v = 0; v < thread_rows; ++v) {
    if (row + v * block_threads >= n) break;
#pragma unroll
    for (int r = 0; r < RhsPerThread; ++r) {
      if (r >= nrhs) break;
      double total = sum[v][r][0];
      if constexpr (chains == 4) total = (total + sum[v][r][1]) + (sum[v][r][2] + sum[v][r][3]);
      partial[row + v * block_threads + (blockIdx.y + static_cast<std::int64_t>(r) * gridDim.y) * ld] = total;
    }
  }
}

/// Computes X = C Y in double, as input of cuBLAS's GEMM. Replaces the max_y of each right-hand side by
/// max |y| if that is larger.
template <class YElement>
__global__ void __launch_bounds__(block_threads)
    scale_directions(const YElement* y, int n, const double* column_scale, double* x, std::int64_t ld,
                     IterationMeasurements* result) {
  const int row = static_cast<int>(blockIdx.x) * block_threads + static_cast<int>(threadIdx.x);
  const std::int64_t index = row + blockIdx.y * ld;
  const double value = row < n ? static_cast<double>(y[index]) : 0.0;
  atomic_max_of_warp(&result[blockIdx.y].max_y, value);
  if (row < n) x[index] = column_scale[row] * value;
}

/// Adds the `count` partial sums of each row, which gives the product s = A C y. Computes w = R s, or the
/// scaled residual w = R (b - s) if b is given. If b is given, also computes max |b - s| and the sum of
/// squares of w per row block (`squares`).
template <class T>
__global__ void __launch_bounds__(block_threads)
    add_partial_products(const double* partial, int count, int n, const T* b, std::int64_t ldb,
                         const double* row_scale, double* w, std::int64_t ld, double* squares,
                         IterationMeasurements* result) {
  const int row = static_cast<int>(blockIdx.x) * block_threads + static_cast<int>(threadIdx.x);
  const auto r = static_cast<std::int64_t>(blockIdx.y);
  double value = 0;
  if (row < n) {
    for (int s = 0; s < count; ++s) value += partial[row + (s + r * count) * ld];
    if (b != nullptr) value = static_cast<double>(b[row + r * ldb]) - value;
  }
  if (b != nullptr) atomic_max_of_warp(&result[r].max_r, value);
  if (row < n) {
    value *= row_scale[row];
    w[row + r * ld] = value;
  }
  if (b == nullptr) return;
  const double sum = sum_of_block(value * value);
  if (threadIdx.x == 0) squares[blockIdx.x + r * gridDim.x] = sum;
}

/// Computes the partial sums of V^T w, one per row block and column of V. V has `count` columns, `stride`
/// apart. Stores the sums as an array partial(row block, column, right-hand side). Each of the eight warps
/// takes every eighth column.
static __global__ void __launch_bounds__(block_threads)
    project(const double* v, std::int64_t stride, int n, int count, const double* w, std::int64_t ld,
            double* partial) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first = static_cast<int>(blockIdx.x) * block_threads;
  v += blockIdx.y * ld;
  w += blockIdx.y * ld;
  partial += static_cast<std::int64_t>(blockIdx.y) * gridDim.x * (max_iterations_per_cycle + 1);
  for (int j = static_cast<int>(threadIdx.x) / 32; j < count; j += block_threads / 32) {
    double sum = 0;
#pragma unroll
    for (int i = 0; i < block_threads; i += 32) {
      const int row = first + i + lane;
      if (row < n) sum = std::fma(v[row + j * stride], w[row], sum);
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) partial[blockIdx.x + j * gridDim.x] = sum;
  }
}

/// Computes w -= V h, where h = V^T w is the total of the partial sums from `project`. Stores h in result->h,
/// or adds it to result->h if `add` (in the second pass of the Gram-Schmidt orthogonalisation). Also computes
/// the sum of squares of the new w per row block (`squares`).
/// @pre the same grid as `project`
static __global__ void __launch_bounds__(block_threads)
    subtract_projection(const double* v, std::int64_t stride, int n, int count, double* w, std::int64_t ld,
                        const double* partial, bool add, double* squares, IterationMeasurements* result) {
  __shared__ double h[max_iterations_per_cycle + 1];
  const int thread = static_cast<int>(threadIdx.x);
  const int blocks = static_cast<int>(gridDim.x);
  v += blockIdx.y * ld;
  w += blockIdx.y * ld;
  partial += static_cast<std::int64_t>(blockIdx.y) * blocks * (max_iterations_per_cycle + 1);
  result += blockIdx.y;
  for (int j = thread / 32; j < count; j += block_threads / 32) {
    double sum = 0;
    for (int g = thread % 32; g < blocks; g += 32) sum += partial[g + j * blocks];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (thread % 32 == 0) h[j] = sum;
  }
  __syncthreads();
  const int row = static_cast<int>(blockIdx.x) * block_threads + thread;
  double value = 0;
  if (row < n) {
    value = w[row];
    for (int j = 0; j < count; ++j) value = std::fma(-h[j], v[row + j * stride], value);
    w[row] = value;
  }
  if (blockIdx.x == 0 && thread < count) result->h[thread] = add ? result->h[thread] + h[thread] : h[thread];
  const double sum = sum_of_block(value * value);
  if (thread == 0) squares[blockIdx.x + static_cast<std::int64_t>(blockIdx.y) * blocks] = sum;
}

/// Computes v = w / |w| (0 if |w| = 0) and stores the 2-norm |w| in result->h[h_index]. `squares` has the
/// sums of squares of w per row block. If `z` is given, also stores v in `z`, where the preconditioner
/// replaces it by a direction. If `from` is given, row i of `z` is row from[i] of v.
template <class ZElement>
__global__ void __launch_bounds__(block_threads)
    normalise(const double* w, int n, std::int64_t ld, const double* squares, double* v, ZElement* z,
              const int* from, int h_index, IterationMeasurements* result) {
  w += blockIdx.y * ld;
  squares += static_cast<std::int64_t>(blockIdx.y) * gridDim.x;
  double sum = 0;
  for (int g = static_cast<int>(threadIdx.x); g < static_cast<int>(gridDim.x); g += block_threads)
    sum += squares[g];
  const double norm = std::sqrt(sum_of_block(sum));
  if (blockIdx.x == 0 && threadIdx.x == 0) result[blockIdx.y].h[h_index] = norm;
  const int row = static_cast<int>(blockIdx.x) * block_threads + static_cast<int>(threadIdx.x);
  if (row >= n) return;
  const std::int64_t index = row + blockIdx.y * ld;
  v[index] = norm > 0 ? w[row] / norm : 0.0;
  if (z != nullptr)
    z[index] = static_cast<ZElement>(norm > 0 ? w[from == nullptr ? row : from[row]] / norm : 0.0);
}

/// Adds the directions times their coefficients to y. Z, the matrix of directions, is n x count with columns
/// `stride` apart.
template <class ZElement>
__global__ void __launch_bounds__(block_threads)
    add_directions(const ZElement* z, std::int64_t stride, int n, int count, const double* coefficients,
                   double* y, std::int64_t ld) {
  const int row = static_cast<int>(blockIdx.x) * block_threads + static_cast<int>(threadIdx.x);
  if (row >= n) return;
  z += blockIdx.y * ld;
  coefficients += blockIdx.y * max_iterations_per_cycle;
  double value = y[row + blockIdx.y * ld];
  for (int j = 0; j < count; ++j)
    value = std::fma(coefficients[j], static_cast<double>(z[row + j * stride]), value);
  y[row + blockIdx.y * ld] = value;
}

/// Computes x = C y.
template <class T>
__global__ void __launch_bounds__(block_threads)
    unscale(const double* y, int n, std::int64_t ld, const double* column_scale, T* x, std::int64_t ldx) {
  const int row = static_cast<int>(blockIdx.x) * block_threads + static_cast<int>(threadIdx.x);
  if (row < n) x[row + blockIdx.y * ldx] = static_cast<T>(column_scale[row] * y[row + blockIdx.y * ld]);
}

}  // namespace gaussweep::cuda::mixed
