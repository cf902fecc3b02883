#pragma once
/// How far two matrices are from each other, where they lie on a device. Portable.

#include "kernels/residual_device/device_elements.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::judge {

constexpr int gap_threads = 128;
constexpr int gap_desk = 2048;  // elements of each matrix in shared memory

/// Elements from (i, j) on into shared memory, `width` columns of `height` rows and a gap; 0 where none
/// count. Neighbouring threads load what are neighbours in memory.
template <int width, class T>
__device__ __forceinline__ void stow(const Elements<T>& m, std::int64_t i, std::int64_t j, double* shared) {
  constexpr int height = gap_desk / width;
  const auto t = static_cast<int>(threadIdx.x);
  const bool down = m.down == 1;
  const int row = down ? t % height : t / width, col = down ? t / height : t % width;
  const int rows_apart = down ? gap_threads % height : gap_threads / width;
  const int cols_apart = down ? gap_threads / height : gap_threads % width;
  const T* const from = m.data + (i + row) * m.down + (j + col) * m.across;
  const std::int64_t apart = rows_apart * m.down + cols_apart * m.across;
  double* const to = shared + col * (height + 1) + row;
  GAUSSWEEP_UNROLL
  for (int k = 0; k < gap_desk / gap_threads; ++k) {
    const bool inside = counts(m, i + row + k * rows_apart, j + col + k * cols_apart);
    to[k * (cols_apart * (height + 1) + rows_apart)] = inside ? from[k * apart] : T(0);
  }
}

/// ColumnGaps of every column, `width` of them a block. One thread a column, which includes in order what the
/// whole block has made ready. The layouts of x and y need not be the same.
template <class T, int width>
__global__ void __launch_bounds__(gap_threads)
    gaps_kernel(Elements<T> x, Elements<T> y, std::int64_t unit, ColumnGaps* columns) {
  constexpr int height = gap_desk / width, pitch = height + 1;
  __shared__ double first[width * pitch], second[width * pitch];
  const auto t = static_cast<int>(threadIdx.x);
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * width;
  const std::int64_t end = y.part == Part::upper ? min(y.rows, j + width) : y.rows;
  ColumnGaps gaps;
  for (std::int64_t i = y.part == Part::lower ? j : 0; i < end; i += height) {
    stow<width>(x, i, j, first);
    stow<width>(y, i, j, second);
    __syncthreads();
    for (int k = t; k < gap_desk; k += gap_threads) {
      const int at = k / height * pitch + k % height;
      const Gap gap = gap_between(first[at], second[at], unit);
      first[at] = gap.small;
      second[at] = gap.relative;
    }
    __syncthreads();
    if (t < width) {
      for (int row = 0; row < height; ++row) gaps.include({first[t * pitch + row], second[t * pitch + row]});
    }
    __syncthreads();
  }
  if (t < width && j + t < y.cols) columns[j + t] = gaps;
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::judge
