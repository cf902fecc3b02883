#pragma once
/// Operands of verification in device memory, and kernels that reduce their rows or columns. Portable
/// (compiled for GPUs and for the CPU emulation).

#include <cstring>

#include "kernels/check/tile_sums.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::verification {

/// The device counterpart of Operand (operand.hpp): element (i, j) is data[i * row_stride + j * col_stride].
template <class T>
struct DeviceOperand {
  const T* data;
  std::int64_t row_stride, col_stride;
  std::int64_t rows, cols;
  MatrixPart part;     ///< the elements that are used; all others count as 0
  bool unit_diagonal;  ///< true: the diagonal elements count as 1
  bool absolute;       ///< true: |element| is used instead of the element
};

/// Returns true if element (i, j) exists and belongs to the part.
template <class T>
__device__ __forceinline__ bool is_used(const DeviceOperand<T>& m, std::int64_t i, std::int64_t j) {
  return i < m.rows && j < m.cols && !(m.part == MatrixPart::lower && i < j) &&
         !(m.part == MatrixPart::upper && i > j);
}

/// Returns element (i, j); 0 outside of the matrix or part.
template <class T>
__device__ __forceinline__ double element(const DeviceOperand<T>& m, std::int64_t i, std::int64_t j) {
  if (!is_used(m, i, j)) return 0;
  if (m.unit_diagonal && i == j) return 1;
  const double value = m.data[i * m.row_stride + j * m.col_stride];
  return m.absolute ? fabs(value) : value;
}

/// The reduction of a line (a row or a column) with elements x. `largest`: max |x|. `sum`: the sum of |x|
/// 2^-exponent. `squares`: the sum of (|x| 2^-exponent)^2. Sums run from the first element to the last.
enum class Reduction { largest, sum, squares };

/// The lines that are reduced one by one: the rows or the columns of a matrix.
enum class LineKind : bool { columns = false, rows = true };

/// The rows or the columns of a matrix, to be reduced one by one.
template <class T>
struct Lines {
  DeviceOperand<T> matrix;
  LineKind kind;
  bool mirrored;  ///< true: the matrix is symmetric, and matrix.part is its stored triangle
  int exponent;   ///< elements are scaled by 2^-exponent before they are summed

  __host__ __device__ bool are_columns() const { return kind == LineKind::columns; }
};

constexpr int line_threads = 128;
constexpr int lines_per_block = 32;
constexpr int line_chunk = 64;  ///< elements per line that a block loads at a time

/// Returns the term of the reduction that element `index` of line `line` contributes.
template <class T>
__device__ __forceinline__ double reduction_term(const Lines<T>& lines, Reduction reduction,
                                                 std::int64_t line, std::int64_t index) {
  const bool are_columns = lines.are_columns();
  std::int64_t i = are_columns ? index : line, j = are_columns ? line : index;
  if (lines.mirrored && !is_used(lines.matrix, i, j)) {
    const std::int64_t row = i;
    i = j;
    j = row;
  }
  const double magnitude = fabs(element(lines.matrix, i, j));
  if (reduction == Reduction::largest) return magnitude;
  const double scaled = times_power(magnitude, -lines.exponent);
  return reduction == Reduction::sum ? scaled : scaled * scaled;
}

/// Reduces line k to out[k]. All threads of a block load elements. One thread per line accumulates them in
/// order, as on the CPU, so that the bits are the same.
template <class T>
__global__ void __launch_bounds__(line_threads)
    lines_kernel(Lines<T> lines, Reduction reduction, double* out) {
  __shared__ double loaded[lines_per_block][line_chunk + 1];  // padded against bank conflicts
  const DeviceOperand<T>& m = lines.matrix;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * lines_per_block;
  const bool are_columns = lines.are_columns();
  const std::int64_t count = are_columns ? m.cols : m.rows, length = are_columns ? m.rows : m.cols;
  const bool contiguous = (are_columns ? m.row_stride : m.col_stride) == 1;  // a line is contiguous in memory
  const auto t = static_cast<int>(threadIdx.x);
  double result = 0;
  for (std::int64_t begin = 0; begin < length; begin += line_chunk) {
    for (int k = t; k < lines_per_block * line_chunk; k += line_threads) {
      // Neighbouring threads load along a line if it is contiguous in memory, else across the lines.
      const int line = contiguous ? k / line_chunk : k % lines_per_block;
      const int index = contiguous ? k % line_chunk : k / lines_per_block;
      loaded[line][index] = reduction_term(lines, reduction, first + line, begin + index);
    }
    __syncthreads();
    if (t < lines_per_block) {
      for (int index = 0; index < line_chunk; ++index) {
        const double value = loaded[t][index];
        if (reduction != Reduction::largest) {
          result += value;
        } else if (value > result) {
          result = value;
        }
      }
    }
    __syncthreads();
  }
  if (t < lines_per_block && first + t < count) out[first + t] = result;
}

/// Finds the first NaN or Inf in column-major order and stores its index. Leaves `first_index` unchanged if
/// all elements are finite.
template <class T>
__global__ void not_finite_kernel(DeviceOperand<T> m, unsigned long long* first_index) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const bool column_major = m.row_stride == 1;
  const std::int64_t line_length = column_major ? m.rows : m.cols;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < m.rows * m.cols;
       k += step) {
    const std::int64_t i = column_major ? k % line_length : k / line_length,
                       j = column_major ? k / line_length : k % line_length;
    if (!is_used(m, i, j)) continue;
    const double value = m.data[i * m.row_stride + j * m.col_stride];
    if (value - value != 0)  // NaN or Inf
      atomicMin(first_index, static_cast<unsigned long long>(i + j * m.rows));
  }
}

/// Raises *largest to the bits of max |a_ij|. Nonnegative doubles are ordered like their bits, so that
/// atomicMax works on the bits; the bits of NaN are above all others.
template <class T>
__global__ void largest_kernel(DeviceOperand<T> m, unsigned long long* largest) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const bool column_major = m.row_stride == 1;
  const std::int64_t line_length = column_major ? m.rows : m.cols;
  unsigned long long thread_max = 0;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < m.rows * m.cols;
       k += step) {
    const std::int64_t i = column_major ? k % line_length : k / line_length,
                       j = column_major ? k / line_length : k % line_length;
    const double magnitude = fabs(element(m, i, j));
    unsigned long long bits = 0;
    memcpy(&bits, &magnitude, sizeof bits);
    thread_max = max(thread_max, bits);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    thread_max = max(thread_max, __shfl_xor_sync(0xffffffffu, thread_max, offset));
  }
  if (threadIdx.x % 32 == 0 && thread_max > simt::load_volatile(largest)) atomicMax(largest, thread_max);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::verification
