#pragma once
/// The steps of an iteration in mixed precision beside the factors: products with the matrix,
/// orthogonalisation.
///
/// Right-hand sides lie side by side, the columns of every vector `ld` apart; blockIdx.y is a right-hand
/// side. Sums go over slices of columns, or groups of 256 rows, and then over these in their order: the same
/// bits in every run.

#include "kernels/gesv/mixed_steps.cuh"

namespace gaussweep::cuda::mixed {

/// The same of one right-hand side while it does. All others than `h` are 0 before they are added to.
struct Readings {
  double h[most_iterations + 2];  ///< a column of the Hessenberg matrix; the norm of a residual
  Largest y;                      ///< the largest of |y|, x = C y
  Largest r;                      ///< the largest of |b - A x|
};
static_assert(sizeof(Readings) == readings * sizeof(double));

/// Before what is largest is looked for: a thread a right-hand side.
static __global__ void clear_largest(Readings* found, int nrhs) {
  const int r = static_cast<int>(threadIdx.x);
  if (r < nrhs) found[r].y = found[r].r = 0;
}

/// A C Y for a slice of columns of A and the `nrhs` <= R right-hand sides at y: partial(row, slice,
/// right-hand side). A thread has `rows` rows, `group` apart.
template <class T, class Y, int R>
__global__ void __launch_bounds__(group)
    multiply_slice(const T* a, std::int64_t lda, int n, int columns, const Y* y, int nrhs,
                   const double* column_scale, double* partial, std::int64_t ld, Readings* found) {
  constexpr int rows = rows_of_slice(R);
  constexpr int at_once = 8 / rows;              // columns
  constexpr int chains = R == 1 ? 4 : 1;         // sums of a row that do not wait for each other
  __shared__ __align__(16) double x[group * R];  // of a column all right-hand sides
  const int thread = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.x) * rows * group + thread;
  const int begin = static_cast<int>(blockIdx.y) * columns;
  const int end = min(n, begin + columns);
  const T* own[rows];  // of a row beyond the matrix nothing is kept
#pragma unroll
  for (int v = 0; v < rows; ++v) own[v] = a + min(row + v * group, n - 1);
  double sum[rows][R][chains] = {};
  const auto add = [&](const T(&value)[rows], int c, int chain) {
#pragma unroll
    for (int r = 0; r < R; r += R == 1 ? 1 : 2) {
      double of_column[2];
      if constexpr (R == 1) {
        of_column[0] = x[c];
      } else {
        const auto two = *reinterpret_cast<const double2*>(x + c * R + r);
        of_column[0] = two.x, of_column[1] = two.y;
      }
#pragma unroll
      for (int q = 0; q < (R == 1 ? 1 : 2); ++q) {
#pragma unroll
        for (int v = 0; v < rows; ++v) {
          sum[v][r + q][chain] = std::fma(static_cast<double>(value[v]), of_column[q], sum[v][r + q][chain]);
        }
      }
    }
  };
  for (int first = begin; first < end; first += group) {
    const int count = min(group, end - first);
    const int column = first + thread;
    const double scale = thread < count ? column_scale[column] : 0.0;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const bool inside = thread < count && r < nrhs;
      const double value_of_y = inside ? static_cast<double>(y[column + r * ld]) : 0.0;
      x[thread * R + r] = scale * value_of_y;
      if (blockIdx.x == 0 && r < nrhs) raise(&found[r].y, value_of_y);
    }
    __syncthreads();
    int c = 0;
    for (; c + at_once <= count; c += at_once) {
      T value[at_once][rows];
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
#pragma unroll
        for (int v = 0; v < rows; ++v) value[i][v] = own[v][(first + c + i) * lda];
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i) add(value[i], c + i, i % chains);
    }
    for (; c < count; ++c) {
      T value[rows];
#pragma unroll
      for (int v = 0; v < rows; ++v) value[v] = own[v][(first + c) * lda];
      add(value, c, 0);
    }
    __syncthreads();
  }
#pragma unroll
  for (int v = 0; v < rows; ++v) {
    if (row + v * group >= n) break;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (r >= nrhs) break;
      double all = sum[v][r][0];
      if constexpr (chains == 4) all = (all + sum[v][r][1]) + (sum[v][r][2] + sum[v][r][3]);
      partial[row + v * group + (blockIdx.y + static_cast<std::int64_t>(r) * gridDim.y) * ld] = all;
    }
  }
}

/// X = C Y in double, where a product of the vendor's is to follow.
template <class Y>
__global__ void __launch_bounds__(group) scale_directions(const Y* y, int n, const double* column_scale,
                                                          double* x, std::int64_t ld, Readings* found) {
  const int row = static_cast<int>(blockIdx.x) * group + static_cast<int>(threadIdx.x);
  const std::int64_t place = row + blockIdx.y * ld;
  const double value = row < n ? static_cast<double>(y[place]) : 0.0;
  raise(&found[blockIdx.y].y, value);
  if (row < n) x[place] = column_scale[row] * value;
}

/// w = R (sum of the slices), or R (b - it) where b is given. Of the latter also the largest, before R, and
/// the groups' sums of squares of w.
template <class T>
__global__ void __launch_bounds__(group)
    gather_slices(const double* partial, int count, int n, const T* b, std::int64_t ldb,
                  const double* row_scale, double* w, std::int64_t ld, double* squares, Readings* found) {
  const int row = static_cast<int>(blockIdx.x) * group + static_cast<int>(threadIdx.x);
  const auto r = static_cast<std::int64_t>(blockIdx.y);
  double value = 0;
  if (row < n) {
    for (int s = 0; s < count; ++s) value += partial[row + (s + r * count) * ld];
    if (b != nullptr) value = static_cast<double>(b[row + r * ldb]) - value;
  }
  if (b != nullptr) raise(&found[r].r, value);
  if (row < n) {
    value *= row_scale[row];
    w[row + r * ld] = value;
  }
  if (b == nullptr) return;
  const double sum = sum_of_block(value * value);
  if (threadIdx.x == 0) squares[blockIdx.x + r * gridDim.x] = sum;
}

/// The groups' parts of V^T w, `count` columns v `stride` apart: partial(group, column, right-hand side). A
/// warp takes every eighth column.
static __global__ void __launch_bounds__(group)
    project(const double* v, std::int64_t stride, int n, int count, const double* w, std::int64_t ld,
            double* partial) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first = static_cast<int>(blockIdx.x) * group;
  v += blockIdx.y * ld;
  w += blockIdx.y * ld;
  partial += static_cast<std::int64_t>(blockIdx.y) * gridDim.x * (most_iterations + 1);
  for (int j = static_cast<int>(threadIdx.x) / 32; j < count; j += group / 32) {
    double sum = 0;
#pragma unroll
    for (int i = 0; i < group; i += 32) {
      const int row = first + i + lane;
      if (row < n) sum = std::fma(v[row + j * stride], w[row], sum);
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) partial[blockIdx.x + j * gridDim.x] = sum;
  }
}

/// w -= V (the sum of the groups' parts), which is added to found->h, or put there; and the groups' sums of
/// squares of w. @pre as many blocks as project had
static __global__ void __launch_bounds__(group)
    subtract_projection(const double* v, std::int64_t stride, int n, int count, double* w, std::int64_t ld,
                        const double* partial, bool add, double* squares, Readings* found) {
  __shared__ double h[most_iterations + 1];
  const int thread = static_cast<int>(threadIdx.x);
  const int blocks = static_cast<int>(gridDim.x);
  v += blockIdx.y * ld;
  w += blockIdx.y * ld;
  partial += static_cast<std::int64_t>(blockIdx.y) * blocks * (most_iterations + 1);
  found += blockIdx.y;
  for (int j = thread / 32; j < count; j += group / 32) {
    double sum = 0;
    for (int g = thread % 32; g < blocks; g += 32) sum += partial[g + j * blocks];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (thread % 32 == 0) h[j] = sum;
  }
  __syncthreads();
  const int row = static_cast<int>(blockIdx.x) * group + thread;
  double value = 0;
  if (row < n) {
    value = w[row];
    for (int j = 0; j < count; ++j) value = std::fma(-h[j], v[row + j * stride], value);
    w[row] = value;
  }
  if (blockIdx.x == 0 && thread < count) found->h[thread] = add ? found->h[thread] + h[thread] : h[thread];
  const double sum = sum_of_block(value * value);
  if (thread == 0) squares[blockIdx.x + static_cast<std::int64_t>(blockIdx.y) * blocks] = sum;
}

/// v = w / |w|, also to where a direction is made of it. There its rows are as they are `from`, if that is
/// given. `found->h[place]` becomes |w|. Where that is 0, so is v.
template <class Z>
__global__ void __launch_bounds__(group)
    normalise(const double* w, int n, std::int64_t ld, const double* squares, double* v, Z* z,
              const int* from, int place, Readings* found) {
  w += blockIdx.y * ld;
  squares += static_cast<std::int64_t>(blockIdx.y) * gridDim.x;
  double sum = 0;
  for (int g = static_cast<int>(threadIdx.x); g < static_cast<int>(gridDim.x); g += group) sum += squares[g];
  const double norm = std::sqrt(sum_of_block(sum));
  if (blockIdx.x == 0 && threadIdx.x == 0) found[blockIdx.y].h[place] = norm;
  const int row = static_cast<int>(blockIdx.x) * group + static_cast<int>(threadIdx.x);
  if (row >= n) return;
  const std::int64_t there = row + blockIdx.y * ld;
  v[there] = norm > 0 ? w[row] / norm : 0.0;
  if (z != nullptr) z[there] = static_cast<Z>(norm > 0 ? w[from == nullptr ? row : from[row]] / norm : 0.0);
}

/// y += Z coefficients, Z n x count, a column `stride` after the other.
template <class Z>
__global__ void __launch_bounds__(group) correct(const Z* z, std::int64_t stride, int n, int count,
                                                 const double* coefficients, double* y, std::int64_t ld) {
  const int row = static_cast<int>(blockIdx.x) * group + static_cast<int>(threadIdx.x);
  if (row >= n) return;
  z += blockIdx.y * ld;
  coefficients += blockIdx.y * most_iterations;
  double value = y[row + blockIdx.y * ld];
  for (int j = 0; j < count; ++j)
    value = std::fma(coefficients[j], static_cast<double>(z[row + j * stride]), value);
  y[row + blockIdx.y * ld] = value;
}

/// x = C y.
template <class T>
__global__ void __launch_bounds__(group)
    unscale(const double* y, int n, std::int64_t ld, const double* column_scale, T* x, std::int64_t ldx) {
  const int row = static_cast<int>(blockIdx.x) * group + static_cast<int>(threadIdx.x);
  if (row < n) x[row + blockIdx.y * ldx] = static_cast<T>(column_scale[row] * y[row + blockIdx.y * ld]);
}

}  // namespace gaussweep::cuda::mixed
