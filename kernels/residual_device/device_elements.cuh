#pragma once
/// Operands of the judge where they lie on a device, and passes over their rows or columns. Portable.

#include <cstring>

#include "kernels/residual/tile_sums.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::judge {

/// Operand (operand.hpp) on a device: element (i, j) at data[i * down + j * across].
template <class T>
struct Elements {
  const T* data;
  std::int64_t down, across;
  std::int64_t rows, cols;
  Part part;  ///< what counts; the rest stands for 0
  bool unit_diagonal, absolute;
};

template <class T>
__device__ __forceinline__ bool counts(const Elements<T>& m, std::int64_t i, std::int64_t j) {
  return i < m.rows && j < m.cols && !(m.part == Part::lower && i < j) && !(m.part == Part::upper && i > j);
}

/// Element (i, j); 0 outside of the matrix.
template <class T>
__device__ __forceinline__ double element(const Elements<T>& m, std::int64_t i, std::int64_t j) {
  if (!counts(m, i, j)) return 0;
  if (m.unit_diagonal && i == j) return 1;
  const double value = m.data[i * m.down + j * m.across];
  return m.absolute ? fabs(value) : value;
}

/// What is taken of a line's elements x: the largest |x|, or the sum of |x| 2^-exponent or of its squares.
/// Sums go from the first element to the last.
enum class Fold { largest, sum, squares };

/// Rows or columns of a matrix.
template <class T>
struct Lines {
  Elements<T> matrix;
  bool rows;
  bool mirrored;  ///< the triangle stands for the symmetric matrix
  int exponent;
};

constexpr int line_threads = 128;
constexpr int lines_of_block = 32;
constexpr int line_chunk = 64;

template <class T>
__device__ __forceinline__ double folded(const Lines<T>& lines, Fold fold, std::int64_t line,
                                         std::int64_t at) {
  std::int64_t i = lines.rows ? line : at, j = lines.rows ? at : line;
  if (lines.mirrored && !counts(lines.matrix, i, j)) {
    const std::int64_t row = i;
    i = j;
    j = row;
  }
  const double size = fabs(element(lines.matrix, i, j));
  if (fold == Fold::largest) return size;
  const double reduced = times_power(size, -lines.exponent);
  return fold == Fold::sum ? reduced : reduced * reduced;
}

/// One thread a line, which adds up in order what the whole block has loaded.
template <class T>
__global__ void __launch_bounds__(line_threads) lines_kernel(Lines<T> lines, Fold fold, double* out) {
  __shared__ double loaded[lines_of_block][line_chunk + 1];
  const Elements<T>& m = lines.matrix;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * lines_of_block;
  const std::int64_t count = lines.rows ? m.rows : m.cols, length = lines.rows ? m.cols : m.rows;
  const bool along = (lines.rows ? m.across : m.down) == 1;  // neighbours of a line are neighbours in memory
  const auto t = static_cast<int>(threadIdx.x);
  double result = 0;
  for (std::int64_t begin = 0; begin < length; begin += line_chunk) {
    for (int k = t; k < lines_of_block * line_chunk; k += line_threads) {
      const int line = along ? k / line_chunk : k % lines_of_block;
      const int at = along ? k % line_chunk : k / lines_of_block;
      loaded[line][at] = folded(lines, fold, first + line, begin + at);
    }
    __syncthreads();
    if (t < lines_of_block) {
      for (int at = 0; at < line_chunk; ++at) {
        const double value = loaded[t][at];
        if (fold != Fold::largest) {
          result += value;
        } else if (value > result) {
          result = value;
        }
      }
    }
    __syncthreads();
  }
  if (t < lines_of_block && first + t < count) out[first + t] = result;
}

/// Where no number stands: the first place, column after column; left alone where all are finite.
template <class T>
__global__ void not_finite_kernel(Elements<T> m, unsigned long long* first_place) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const bool by_columns = m.down == 1;
  const std::int64_t line = by_columns ? m.rows : m.cols;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < m.rows * m.cols;
       k += step) {
    const std::int64_t i = by_columns ? k % line : k / line, j = by_columns ? k / line : k % line;
    if (!counts(m, i, j)) continue;
    const double value = m.data[i * m.down + j * m.across];
    if (value - value != 0) atomicMin(first_place, static_cast<unsigned long long>(i + j * m.rows));
  }
}

/// The bits of max |a_ij|, which are ordered as the numbers are; NaN is above all.
template <class T>
__global__ void largest_kernel(Elements<T> m, unsigned long long* largest) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const bool by_columns = m.down == 1;
  const std::int64_t line = by_columns ? m.rows : m.cols;
  unsigned long long own = 0;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < m.rows * m.cols;
       k += step) {
    const std::int64_t i = by_columns ? k % line : k / line, j = by_columns ? k / line : k % line;
    const double size = fabs(element(m, i, j));
    unsigned long long bits = 0;
    memcpy(&bits, &size, sizeof bits);
    own = max(own, bits);
  }
  for (int apart = 16; apart > 0; apart /= 2) {
    own = max(own, __shfl_xor_sync(0xffffffffu, own, apart));
  }
  if (threadIdx.x % 32 == 0 && own > simt::load_volatile(largest)) atomicMax(largest, own);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::judge
