#pragma once
/// The kernels before and after the half-precision products of half_products.cuh. They find exponents, scale
/// and split the operands, and convert the sums to C. "Halves" are half-precision numbers.
///
/// A and B are scaled to A' = D1 A D2 and B' = D2^-1 B D3, where D1, D2 and D3 are diagonal matrices of
/// powers of two. D2 makes the largest |element| in column k of A D2 about equal to that in row k of D2^-1 B.
/// D1 and D3 scale the maximum |element| of each row of A' and of each column of B' to [2^14, 2^15). Two
/// halves then represent elements down to 2^-18 times the maximum with a relative error of at most 2^-21. The
/// absolute error of smaller elements is at most 2^-25, because halves have subnormal numbers down to 2^-24.
/// Badly scaled rows of A, columns of B or k indices therefore do not reduce the accuracy of C.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/core/matrix.hpp"
#include "kernels/gemm/workspaces.hpp"
#include "kernels/simt/simt.hpp"
#ifdef __CUDACC__
#include <cuda_fp16.h>
#endif

namespace gaussweep::GAUSSWEEP_BACKEND::halves {

using namespace gaussweep::halves;

constexpr int threads = 256;
constexpr int max_scaled_exponent = 15;  ///< scaled elements are below 2^15; halves are below 2^16
/// The exponent of a row or column of zeros. Its four bytes are equal, so that a memset with
/// `unset_exponent_byte` sets it.
constexpr int unset_exponent = static_cast<int>(0x80808080u), unset_exponent_byte = 0x80;

#ifdef __CUDACC__
using Half = __half;
__device__ __forceinline__ Half to_half(float value) {
  return __float2half_rn(value);
}
__device__ __forceinline__ float to_float(Half value) {
  return __half2float(value);
}
#else
/// The bits of an IEEE half.
struct Half {
  std::uint16_t bits;
};
/// Rounds to nearest, ties to even. @pre |value| <= 2^15, or it is not finite
inline Half to_half(float value) {
  const unsigned sign = std::signbit(value) ? 0x8000u : 0u;
  if (!std::isfinite(value))
    return {static_cast<std::uint16_t>(sign | (std::isinf(value) ? 0x7c00u : 0x7e00u))};
  // `steps` is the significand in units of its last place. It is added to the exponent's bits, so that a
  // significand that is rounded up to 2^11 carries into them.
  const int exponent = value == 0 ? -14 : std::max(std::ilogb(value), -14);
  const auto steps = static_cast<unsigned>(std::nearbyint(std::ldexp(std::fabs(value), 10 - exponent)));
  return {static_cast<std::uint16_t>(sign | ((static_cast<unsigned>(exponent + 14) << 10) + steps))};
}
inline float to_float(Half value) {
  const int exponent = value.bits >> 10 & 31, digits = value.bits & 1023;
  const float magnitude = exponent == 31
                              ? (digits == 0 ? HUGE_VALF : NAN)
                              : std::ldexp(static_cast<float>(exponent == 0 ? digits : digits + 1024),
                                           (exponent == 0 ? 1 : exponent) - 25);
  return value.bits >> 15 != 0 ? -magnitude : magnitude;
}
#endif

/// Returns the smallest e >= -126 with |value| < 2^e, or `unset_exponent` if the value is 0 or not finite.
/// (Smaller e are not needed: values below 2^-126 are multiples of 2^-149, so that two halves represent them
/// exactly.)
__device__ __forceinline__ int exponent_above(float value) {
  const unsigned bits = __float_as_uint(value) & 0x7fffffffu;
  return bits == 0 || bits >= 0x7f800000u ? unset_exponent : static_cast<int>(bits >> 23) - 126;
}
__device__ __forceinline__ int larger(int a, int b) {
  return a > b ? a : b;
}
__device__ __forceinline__ int smaller(int a, int b) {
  return a < b ? a : b;
}
/// Returns value * 2^exponent. Multiplies twice, because 2^exponent may be outside float's range.
__device__ __forceinline__ float scaled(float value, int exponent) {
  exponent = exponent < -250 ? -250 : exponent > 250 ? 250 : exponent;
  const int half = exponent >> 1;
  return value * __uint_as_float(static_cast<unsigned>(half + 127) << 23) *
         __uint_as_float(static_cast<unsigned>(exponent - half + 127) << 23);
}

/// Returns the exponent s for which 2^s scales a maximum with exponent `max_exponent` to [2^14, 2^15).
__device__ __forceinline__ int shift_to_top(int max_exponent) {
  return max_exponent == unset_exponent ? 0 : max_scaled_exponent - max_exponent;
}

/// The exponents (exponent_above) of the largest |element| per row and per column.
struct MaxExponents {
  int* a_columns;  ///< for the k columns of A
  int* b_rows;     ///< for the k rows of B
  int* rows;       ///< for the m rows of A D2
  int* columns;    ///< for the n columns of D2^-1 B

  /// Returns log2 of element k of D2. If row k of B is zero, D2 makes column k of A so small that it does not
  /// determine the maxima of A's rows. The same holds with A and B exchanged.
  __device__ __forceinline__ int d2_exponent(int k) const {
    constexpr int exponent_of_zeros = -280;  // far below the exponents of nonzero elements (-126 to 128)
    const int a = a_columns[k] == unset_exponent ? exponent_of_zeros : a_columns[k];
    const int b = b_rows[k] == unset_exponent ? exponent_of_zeros : b_rows[k];
    return (b - a) >> 1;
  }
};

/// Computes the MaxExponents. Pass 1 computes those of A's columns and B's rows; pass 2 computes those of the
/// rows of A D2 and the columns of D2^-1 B. Each of the first row_blocks * slices blocks processes 256 rows
/// of one matrix in one of `slices` column ranges. Every other block processes a column of the other matrix.
template <int pass>
__global__ void __launch_bounds__(threads) measure(MatrixView<const float> a, MatrixView<const float> b,
                                                   MaxExponents exponents, int row_blocks, int slices) {
  const MatrixView<const float>& by_rows = pass == 1 ? b : a;
  const MatrixView<const float>& by_columns = pass == 1 ? a : b;
  const int block = static_cast<int>(blockIdx.x);
  const int thread = static_cast<int>(threadIdx.x);
  int max_exponent = unset_exponent;
  if (block < row_blocks * slices) {
    const int row = block % row_blocks * threads + thread;
    if (row >= by_rows.rows) return;
    const int columns = static_cast<int>(by_rows.cols);
    const int slice = (columns + slices - 1) / slices;
    const int begin = block / row_blocks * slice;
    const int end = columns - begin < slice ? columns : begin + slice;
    const float* from = by_rows.data + row + begin * by_rows.ld;
#if defined(__CUDACC__)
#pragma unroll 8
#endif
    for (int j = begin; j < end; ++j, from += by_rows.ld) {
      const int shift = pass == 1 ? 0 : exponents.d2_exponent(j);
      const int exponent = exponent_above(*from);
      max_exponent = exponent == unset_exponent ? max_exponent : larger(max_exponent, exponent + shift);
    }
    if (max_exponent != unset_exponent)
      atomicMax((pass == 1 ? exponents.b_rows : exponents.rows) + row, max_exponent);
    return;
  }
  const int column = block - row_blocks * slices;
  const float* const from = by_columns.data + column * by_columns.ld;
#if defined(__CUDACC__)
#pragma unroll 4
#endif
  for (int i = thread; i < by_columns.rows; i += threads) {
    const int shift = pass == 1 ? 0 : exponents.d2_exponent(i);
    const int exponent = exponent_above(from[i]);
    max_exponent = exponent == unset_exponent ? max_exponent : larger(max_exponent, exponent - shift);
  }
  for (int d = 16; d > 0; d /= 2)
    max_exponent = larger(max_exponent, __shfl_xor_sync(0xffffffffu, max_exponent, d));
  if (thread % 32 == 0 && max_exponent != unset_exponent) {
    atomicMax((pass == 1 ? exponents.a_columns : exponents.columns) + column, max_exponent);
  }
}

/// Four neighbouring elements of a column of halves.
struct alignas(4 * sizeof(Half)) HalfQuad {
  Half value[4];
};

/// Scales and splits a k slice (a range of k indices) of both operands. The first `left_blocks` blocks write
/// the halves [low, high, high] of A (m x k) to `left` (m8 x 3 k8). The other blocks write [high; low; high]
/// of each column of B (k x n) to `right` (3 k8 x n). Here m8 and k8 are m and k rounded up to multiples of
/// 8; the padding is 0. A thread processes four elements of a column at a time. `first` is the first k index
/// of the slice.
template <class T>
__global__ void __launch_bounds__(threads)
    split(MatrixView<const T> a, MatrixView<const T> b, MaxExponents exponents, int first, Half* left, int m8,
          int left_blocks, Half* right, int k8) {
  const bool is_a = static_cast<int>(blockIdx.x) < left_blocks;
  const unsigned block = is_a ? blockIdx.x : blockIdx.x - static_cast<unsigned>(left_blocks);
  const unsigned blocks =
      is_a ? static_cast<unsigned>(left_blocks) : gridDim.x - static_cast<unsigned>(left_blocks);
  const T* const from = is_a ? a.data : b.data;
  const std::int64_t ld = is_a ? a.ld : b.ld;
  const auto rows = static_cast<int>(is_a ? a.rows : b.rows);
  const auto columns = static_cast<int>(is_a ? a.cols : b.cols);
  const auto quads_per_column = static_cast<unsigned>((is_a ? m8 : k8) / 4);  // groups of four per column
  const unsigned quads = quads_per_column * static_cast<unsigned>(is_a ? k8 : columns);
  for (unsigned i = block * threads + threadIdx.x; i < quads; i += blocks * threads) {
    const auto column = static_cast<int>(i / quads_per_column);
    const int row = static_cast<int>(i % quads_per_column) * 4;
    // Loads are unconditional with clamped indices: a predicated load would stall.
    const int clamped_column = smaller(column, columns - 1);
    // log2 of the column's scale, which is an element of D2 for A, and of D3 for B.
    const int column_shift = is_a ? exponents.d2_exponent(first + clamped_column)
                                  : shift_to_top(exponents.columns[clamped_column]);
    float value[4];
    int row_shift[4];
    GAUSSWEEP_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int clamped_row = smaller(row + e, rows - 1);
      value[e] = from[clamped_row + clamped_column * ld];
      row_shift[e] =
          is_a ? shift_to_top(exponents.rows[clamped_row]) : -exponents.d2_exponent(first + clamped_row);
    }
    HalfQuad high, low;
    GAUSSWEEP_UNROLL
    for (int e = 0; e < 4; ++e) {
      const float x =
          column < columns && row + e < rows ? scaled(value[e], column_shift + row_shift[e]) : 0.0f;
      high.value[e] = to_half(x);
      const float remainder = x - to_float(high.value[e]);
      low.value[e] = to_half(remainder == remainder ? remainder : 0.0f);  // inf - inf is NaN: no remainder
    }
    if (is_a) {
      Half* const to = left + row + static_cast<std::int64_t>(column) * m8;
      const std::int64_t part_stride = static_cast<std::int64_t>(k8) * m8;
      *reinterpret_cast<HalfQuad*>(to) = low;
      *reinterpret_cast<HalfQuad*>(to + part_stride) = high;
      *reinterpret_cast<HalfQuad*>(to + 2 * part_stride) = high;
    } else {
      Half* const to = right + row + static_cast<std::int64_t>(column) * parts * k8;
      *reinterpret_cast<HalfQuad*>(to) = high;
      *reinterpret_cast<HalfQuad*>(to + k8) = low;
      *reinterpret_cast<HalfQuad*>(to + 2 * k8) = high;
    }
  }
}

/// Stores C = S or C -= S, where S = D1^-1 `sums` D3^-1. `rows` and `columns` are the exponents of the rows
/// of A D2 and of the columns of D2^-1 B. A thread processes four columns of one row.
template <bool subtracted>
__global__ void __launch_bounds__(threads)
    scale_back(const float* sums, std::int64_t m8, MatrixView<float> c, const int* rows, const int* columns) {
  constexpr int thread_columns = 4;
  const auto row = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (row >= c.rows) return;
  // As in split(), all loads come first, with clamped indices instead of predicates.
  const int begin = static_cast<int>(blockIdx.y) * thread_columns;
  const auto end = static_cast<int>(c.cols);
  float sum[thread_columns], before[thread_columns];
  GAUSSWEEP_UNROLL
  for (int e = 0; e < thread_columns; ++e) {
    const int column = smaller(begin + e, end - 1);
    sum[e] = sums[row + column * m8];
    before[e] = subtracted ? c.data[row + column * c.ld] : 0.0f;
  }
  GAUSSWEEP_UNROLL
  for (int e = 0; e < thread_columns; ++e) {
    const int column = begin + e;
    if (column >= end) return;
    const float value = scaled(sum[e], -shift_to_top(rows[row]) - shift_to_top(columns[column]));
    c.data[row + column * c.ld] = subtracted ? before[e] - value : value;
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::halves
