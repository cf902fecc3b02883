#pragma once
/// The kernel that compares two matrices on a device. Portable (compiled for GPUs and for the CPU emulation).

#include "kernels/check/device_elements.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::verification {

constexpr int difference_threads = 128;
constexpr int difference_elements = 2048;  // elements of each matrix that a thread block has in shared memory

/// Copies the block of difference_elements / width rows and `width` columns that begins at element (i, j) to
/// shared memory. In shared memory, columns are padded by one element against bank conflicts. Elements
/// outside of the matrix become 0, and so do elements outside of its triangle if only the triangle is used.
/// Neighbouring threads load neighbouring addresses. All sizes are powers of two. Each load of a thread is
/// therefore `stride` elements after its previous one.
template <int width, class T>
__device__ __forceinline__ void copy_to_shared(const DeviceOperand<T>& m, std::int64_t i, std::int64_t j,
                                               double* shared) {
  constexpr int height = difference_elements / width;
  const auto t = static_cast<int>(threadIdx.x);
  const bool column_major = m.row_stride == 1;
  const int row = column_major ? t % height : t / width, col = column_major ? t / height : t % width;
  const int row_step = column_major ? difference_threads % height : difference_threads / width;
  const int col_step = column_major ? difference_threads / height : difference_threads % width;
  const T* const from = m.data + (i + row) * m.row_stride + (j + col) * m.col_stride;
  const std::int64_t stride = row_step * m.row_stride + col_step * m.col_stride;
  double* const to = shared + col * (height + 1) + row;
  GAUSSWEEP_UNROLL
  for (int k = 0; k < difference_elements / difference_threads; ++k) {
    const bool inside = is_used(m, i + row + k * row_step, j + col + k * col_step);
    to[k * (col_step * (height + 1) + row_step)] = inside ? from[k * stride] : T(0);
  }
}

/// Computes maxima and sums of the absolute and relative differences of x and y per column
/// (ColumnDifferences). A thread block processes `width` columns. All its threads compute differences. One
/// thread per column accumulates them in row order, as on the CPU, so that the bits are the same. x and y may
/// have different layouts. Differences are scaled by 2^-exponent (pair_difference in
/// element_differences.hpp).
template <class T, int width>
__global__ void __launch_bounds__(difference_threads)
    differences_kernel(DeviceOperand<T> x, DeviceOperand<T> y, std::int64_t exponent,
                       ColumnDifferences* columns) {
  constexpr int height = difference_elements / width, pitch = height + 1;
  __shared__ double first[width * pitch], second[width * pitch];
  const auto t = static_cast<int>(threadIdx.x);
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * width;
  const std::int64_t end = y.part == MatrixPart::upper ? min(y.rows, j + width) : y.rows;
  ColumnDifferences differences;
  for (std::int64_t i = y.part == MatrixPart::lower ? j : 0; i < end; i += height) {
    copy_to_shared<width>(x, i, j, first);
    copy_to_shared<width>(y, i, j, second);
    __syncthreads();
    for (int k = t; k < difference_elements; k += difference_threads) {
      // The differences replace the elements in shared memory.
      const int index = k / height * pitch + k % height;
      const PairDifference difference = pair_difference(first[index], second[index], exponent);
      first[index] = difference.scaled;
      second[index] = difference.relative;
    }
    __syncthreads();
    if (t < width) {
      for (int row = 0; row < height; ++row)
        differences.include({first[t * pitch + row], second[t * pitch + row]});
    }
    __syncthreads();
  }
  if (t < width && j + t < y.cols) columns[j + t] = differences;
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::verification
