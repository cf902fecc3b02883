#pragma once
/// Kernels of the mixed-precision solvers that measure a matrix before and during its float factorisation,
/// and convert the factors to double.
///
/// The iteration solves with R A C. R and C are diagonal matrices of powers of two. With these scales, the
/// largest element of every row and column of R A C is about 1.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "kernels/gesv/mixed_common.hpp"

namespace gaussweep::cuda::mixed {

using namespace gaussweep::mixed;

/// The bits of a nonnegative double. Maxima are computed on bits, because CUDA has no atomicMax for doubles.
/// The bits have the same order as the doubles; NaN is the largest.
using DoubleBits = unsigned long long;

/// Measurements of the matrix and its factors, from which the host decides whether to refine. Members of type
/// DoubleBits start at 0.
struct MatrixMeasurements {
  double min_row_scale;                    ///< the smallest element of R
  DoubleBits norm_of_a;                    ///< max row sum of |A|
  DoubleBits max_inverse_column_scale;     ///< the maximum of 1 / c over the elements c of C
  double first_mean_log2, last_mean_log2;  ///< means of log2 |pivot| over two windows (inspect_pivots)
  double smallest_pivot, largest_pivot;    ///< in magnitude, of the columns factored so far
  double low_pivot_count;                  ///< number of pivots of the sample (sample_pivots) below a limit
  double smallest_sampled;                 ///< the smallest pivot of the sample, in magnitude
  /// Only for symmetric A: the largest row sum of squares of R A C without its diagonal.
  DoubleBits off_diagonal_squares;
};
static_assert(sizeof(MatrixMeasurements) <= matrix_measurement_doubles * sizeof(double));

/// Replaces *to by the largest |value| of the warp if that is larger. All threads of the warp must call this.
__device__ __forceinline__ void atomic_max_of_warp(DoubleBits* to, double value) {
  auto bits = static_cast<DoubleBits>(__double_as_longlong(std::fabs(value)));
  for (int d = 16; d > 0; d /= 2) {
    const DoubleBits other = __shfl_xor_sync(0xffffffffu, bits, d);
    bits = other > bits ? other : bits;
  }
  if (threadIdx.x % 32 == 0) atomicMax(to, bits);
}

/// sum_of_block and largest_of_block return the sum and the maximum of `value` over the block's threads, to
/// every thread. @pre the block has `block_threads` threads
__device__ __forceinline__ double sum_of_block(double value) {
  __shared__ double warp_values[block_threads / 32];
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffffu, value, d);
  __syncthreads();  // an earlier call may still read warp_values
  if (threadIdx.x % 32 == 0) warp_values[threadIdx.x / 32] = value;
  __syncthreads();
  double sum = 0;
  for (int w = 0; w < block_threads / 32; ++w) sum += warp_values[w];
  return sum;
}
__device__ __forceinline__ double largest_of_block(double value) {
  __shared__ double warp_values[block_threads / 32];
  for (int d = 16; d > 0; d /= 2) value = fmax(value, __shfl_xor_sync(0xffffffffu, value, d));
  __syncthreads();
  if (threadIdx.x % 32 == 0) warp_values[threadIdx.x / 32] = value;
  __syncthreads();
  double maximum = warp_values[0];
  for (int w = 1; w < block_threads / 32; ++w) maximum = fmax(maximum, warp_values[w]);
  return maximum;
}

/// Returns the power of two that scales `value` to [1, 2). The exponent is limited to ±1000. Returns 1 if
/// `value` is 0 or not finite.
__device__ __forceinline__ double scale_for(double value) {
  if (!(value > 0) || isinf(value)) return 1;
  int exponent = ilogb(value);
  exponent = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
  return ldexp(1.0, -exponent);
}

/// Stores the smallest element of R in result->min_row_scale. Runs in one block.
static __global__ void __launch_bounds__(block_threads)
    smallest_scale(const double* row_scale, int n, MatrixMeasurements* result) {
  double maximum = 0;  // of 1 / r over the elements r of R
  for (int i = static_cast<int>(threadIdx.x); i < n; i += block_threads)
    maximum = fmax(maximum, 1 / row_scale[i]);
  maximum = largest_of_block(maximum);
  if (threadIdx.x == 0) result->min_row_scale = 1 / maximum;
}

/// Measures the pivots of the first `columns` columns: the smallest, the largest, and the means of log2
/// |pivot| over two windows (ranges of columns). One window is the last `window` of these columns; the other
/// one has the same length and ends `distance` columns earlier. Runs in one block. @pre window + distance <=
/// columns
static __global__ void __launch_bounds__(block_threads)
    inspect_pivots(const float* lu, std::int64_t ld, int columns, int window, int distance,
                   MatrixMeasurements* result) {
  double first = 0, last = 0, largest_inverse = 0, largest = 0;
  for (int i = static_cast<int>(threadIdx.x); i < columns; i += block_threads) {
    const double pivot = std::fabs(static_cast<double>(lu[i + i * ld]));
    // -200 is below the log2 of every nonzero float.
    const double log2_pivot = pivot > 0 ? std::log2(pivot) : -200.0;
    if (i >= columns - window) last += log2_pivot;
    if (i >= columns - distance - window && i < columns - distance) first += log2_pivot;
    largest_inverse = fmax(largest_inverse, 1 / pivot);
    largest = pivot <= largest ? largest : pivot;  // becomes NaN if the pivot is NaN
    if (pivot != pivot) break;                     // else the next pivot would replace the NaN
  }
  const bool finite = __syncthreads_and(largest == largest) != 0;
  first = sum_of_block(first);
  last = sum_of_block(last);
  largest_inverse = largest_of_block(largest_inverse);
  largest = largest_of_block(largest);
  if (threadIdx.x == 0) {
    result->first_mean_log2 = first / window;
    result->last_mean_log2 = last / window;
    result->smallest_pivot = 1 / largest_inverse;
    result->largest_pivot = finite ? largest : INFINITY;
  }
}

/// Returns the index in an n x n matrix of the sample's i-th row and of its i-th column. The sample has one
/// pseudorandom index from each of `sample_order` equal ranges. Evenly spaced indices could repeat the same
/// rows of a periodic matrix. @pre n >= sample_order
__device__ __forceinline__ int sampled(int i, int n) {
  const auto begin = static_cast<int>(static_cast<std::int64_t>(i) * n / sample_order);
  const auto end = static_cast<int>(static_cast<std::int64_t>(i + 1) * n / sample_order);
  // A hash of i: a Weyl sequence, mixed by the 32-bit finaliser of MurmurHash3.
  unsigned bits = static_cast<unsigned>(i) * 0x9e3779b9u + 0x7f4a7c15u;
  bits = (bits ^ bits >> 16) * 0x85ebca6bu;
  bits = (bits ^ bits >> 13) * 0xc2b2ae35u;
  bits ^= bits >> 16;
  return begin + static_cast<int>(bits % static_cast<unsigned>(end - begin));
}

/// The part of a matrix that is stored.
enum class StoredPart { all, lower, upper };

/// Factors the *sample*, the submatrix of `sample_order` rows of A and the columns with the same indices
/// (`sampled`). Uses partial pivoting and stops at the first zero column. Stores the smallest pivot and the
/// number of pivots below `low`. `scale`, if given, scales rows and columns of A. Runs in one block. @pre n
/// >= sample_order
template <class T>
__global__ void __launch_bounds__(block_threads)
    sample_pivots(const T* a, std::int64_t lda, int n, StoredPart stored_part, const double* scale, float low,
                  MatrixMeasurements* result) {
  static_assert(sample_order == 64, "a row index has 6 bits, and used_rows has 64");
  __shared__ float element[sample_order][sample_order + 1];  // [column][row]
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < sample_order * sample_order; i += block_threads) {
    const int row = sampled(i % sample_order, n), column = sampled(i / sample_order, n);
    const bool transposed =
        stored_part == StoredPart::lower ? row < column : stored_part == StoredPart::upper && row > column;
    auto value = static_cast<double>(a[transposed ? column + row * lda : row + column * lda]);
    if (scale != nullptr) value *= scale[row] * scale[column];
    element[i / sample_order][i % sample_order] = static_cast<float>(value);
  }
  __syncthreads();
  const int lane = thread % 32;
  const int row = thread % sample_order;
  std::uint64_t used_rows = 0;  // bit mask of the rows that were pivots; equal in all threads
  int count = 0;
  float smallest = INFINITY;
  for (int k = 0; k < sample_order; ++k) {
    // A key consists of the bits of a float's magnitude, whose lowest 6 bits are replaced by the row index.
    // One maximum therefore finds both the magnitude (to 17 fraction bits) and the row.
    unsigned best_key = 0;
    for (int r = lane; r < sample_order; r += 32) {
      const auto magnitude = __float_as_uint(std::fabs(element[k][r])) & ~63u;
      if ((used_rows >> r & 1u) == 0) best_key = max(best_key, magnitude | static_cast<unsigned>(r));
    }
    for (int d = 16; d > 0; d /= 2) best_key = max(best_key, __shfl_xor_sync(0xffffffffu, best_key, d));
    if (best_key < 64) break;  // all remaining magnitudes are 0
    const int pivot_row = static_cast<int>(best_key % 64);
    const float pivot = element[k][pivot_row];
    if (std::fabs(pivot) < low) ++count;
    smallest = fminf(smallest, std::fabs(pivot));
    used_rows |= std::uint64_t{1} << pivot_row;
    if ((used_rows >> row & 1u) == 0) {
      const float factor = element[k][row] / pivot;
#pragma unroll 4
      for (int c = k + 1 + thread / sample_order; c < sample_order; c += block_threads / sample_order)
        element[c][row] = std::fma(-factor, element[c][pivot_row], element[c][row]);
    }
    __syncthreads();
  }
  if (thread == 0) {
    result->low_pivot_count = count;
    result->smallest_sampled = static_cast<double>(smallest);
  }
}

/// Converts columns [0, count) from float to double, both with leading dimension `ld`. A thread converts four
/// rows of a column. @pre the columns of
/// `to` and `from` do not overlap
static __global__ void __launch_bounds__(block_threads)
    widen(const float* from, double* to, std::int64_t ld, int n, int count) {
  constexpr int unrolled = 4;
  const int begin = static_cast<int>(blockIdx.x) * unrolled * block_threads + static_cast<int>(threadIdx.x);
  for (int j = static_cast<int>(blockIdx.y); j < count; j += static_cast<int>(gridDim.y)) {
    float value[unrolled];
#pragma unroll
    for (int i = 0; i < unrolled; ++i) value[i] = from[min(begin + i * block_threads, n - 1) + j * ld];
#pragma unroll
    for (int i = 0; i < unrolled; ++i) {
      if (begin + i * block_threads < n)
        to[begin + i * block_threads + j * ld] = static_cast<double>(value[i]);
    }
  }
}

}  // namespace gaussweep::cuda::mixed
