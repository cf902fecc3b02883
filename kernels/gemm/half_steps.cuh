#pragma once
/// The steps of a product by split halves beside the product of halves: exponents, scaling, splitting.
///
/// Scaled by powers of two, A and B become A' = D1 A D2 and B' = D2^-1 B D3. D2 makes the largest element of
/// a column of A' as large as that of the row of B' that it meets. D1 and D3 bring the largest of a row of A'
/// and of a column of B' to 2^14 to 2^15. A half holds elements down to 2^-18 of that with all of its digits,
/// and the second half what is left of them. So what each element of C keeps does not depend on how rows,
/// columns or the inner index are graded. It does not depend on where in float's range they are either.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/core/matrix.hpp"
#include "kernels/gemm/half_memory.hpp"
#include "kernels/simt/simt.hpp"
#ifdef __CUDACC__
#include <cuda_fp16.h>
#endif

namespace gaussweep::GAUSSWEEP_BACKEND::halves {

using namespace gaussweep::halves;

constexpr int threads = 256;
constexpr int top = 15;                               ///< scaled elements are below 2^top
constexpr int unset = static_cast<int>(0x80808080u);  ///< exponent of zeros: what a fill with 0x80 leaves

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
/// The nearest one, of two equally near the even one. @pre |value| <= 2^15, or it is not finite
inline Half to_half(float value) {
  const unsigned sign = std::signbit(value) ? 0x8000u : 0u;
  if (!std::isfinite(value))
    return {static_cast<std::uint16_t>(sign | (std::isinf(value) ? 0x7c00u : 0x7e00u))};
  const int exponent = value == 0 ? -14 : std::max(std::ilogb(value), -14);
  const auto steps = static_cast<unsigned>(std::nearbyint(std::ldexp(std::fabs(value), 10 - exponent)));
  return {static_cast<std::uint16_t>(sign | ((static_cast<unsigned>(exponent + 14) << 10) + steps))};
}
inline float to_float(Half value) {
  const int exponent = value.bits >> 10 & 31, digits = value.bits & 1023;
  const float size = exponent == 31 ? (digits == 0 ? HUGE_VALF : NAN)
                                    : std::ldexp(static_cast<float>(exponent == 0 ? digits : digits + 1024),
                                                 (exponent == 0 ? 1 : exponent) - 25);
  return value.bits >> 15 != 0 ? -size : size;
}
#endif

/// The least e >= -126 with |value| < 2^e; `unset` where it is 0 or no number. (What is below 2^-126 has all
/// of its digits above 2^-149, and so in two halves.)
__device__ __forceinline__ int exponent_above(float value) {
  const unsigned bits = __float_as_uint(value) & 0x7fffffffu;
  return bits == 0 || bits >= 0x7f800000u ? unset : static_cast<int>(bits >> 23) - 126;
}
__device__ __forceinline__ int larger(int a, int b) {
  return a > b ? a : b;
}
__device__ __forceinline__ int smaller(int a, int b) {
  return a < b ? a : b;
}
/// value 2^exponent, in two steps, for 2^exponent may be beyond float's range.
__device__ __forceinline__ float scaled(float value, int exponent) {
  exponent = exponent < -250 ? -250 : exponent > 250 ? 250 : exponent;
  const int half = exponent >> 1;
  return value * __uint_as_float(static_cast<unsigned>(half + 127) << 23) *
         __uint_as_float(static_cast<unsigned>(exponent - half + 127) << 23);
}

/// What brings a largest element below 2^top.
__device__ __forceinline__ int to_top(int most) {
  return most == unset ? 0 : top - most;
}

/// Exponents of the largest elements, `unset` where all are 0.
struct Exponents {
  int* a_columns;  ///< k, of A
  int* b_rows;     ///< k, of B
  int* rows;       ///< m, of A D2
  int* columns;    ///< n, of D2^-1 B

  /// Of D2 at k. What meets zeros alone is to be the largest of nothing.
  __device__ __forceinline__ int inner(int k) const {
    constexpr int of_zeros = -280;
    const int a = a_columns[k] == unset ? of_zeros : a_columns[k];
    const int b = b_rows[k] == unset ? of_zeros : b_rows[k];
    return (b - a) >> 1;
  }
};

/// Pass 1: the largest of A's columns and of B's rows. Pass 2: of the rows of A D2 and of the columns of
/// D2^-1 B. Blocks up to row_blocks * slices take 256 rows of a matrix in one of `slices` parts of its
/// columns. The others take a column of the other matrix each.
template <int pass>
__global__ void __launch_bounds__(threads) measure(MatrixView<const float> a, MatrixView<const float> b,
                                                   Exponents found, int row_blocks, int slices) {
  const MatrixView<const float>& by_rows = pass == 1 ? b : a;
  const MatrixView<const float>& by_columns = pass == 1 ? a : b;
  const int block = static_cast<int>(blockIdx.x);
  const int thread = static_cast<int>(threadIdx.x);
  int most = unset;
  if (block < row_blocks * slices) {
    const int row = block % row_blocks * threads + thread;
    if (row >= by_rows.rows) return;
    const int columns = static_cast<int>(by_rows.cols);
    const int each = (columns + slices - 1) / slices;
    const int begin = block / row_blocks * each;
    const int end = columns - begin < each ? columns : begin + each;
    const float* from = by_rows.data + row + begin * by_rows.ld;
#if defined(__CUDACC__)
#pragma unroll 8
#endif
    for (int j = begin; j < end; ++j, from += by_rows.ld) {
      const int shift = pass == 1 ? 0 : found.inner(j);
      const int exponent = exponent_above(*from);
      most = exponent == unset ? most : larger(most, exponent + shift);
    }
    if (most != unset) atomicMax((pass == 1 ? found.b_rows : found.rows) + row, most);
    return;
  }
  const int column = block - row_blocks * slices;
  const float* const from = by_columns.data + column * by_columns.ld;
#if defined(__CUDACC__)
#pragma unroll 4
#endif
  for (int i = thread; i < by_columns.rows; i += threads) {
    const int shift = pass == 1 ? 0 : found.inner(i);
    const int exponent = exponent_above(from[i]);
    most = exponent == unset ? most : larger(most, exponent - shift);
  }
  for (int d = 16; d > 0; d /= 2) most = larger(most, __shfl_xor_sync(0xffffffffu, most, d));
  if (thread % 32 == 0 && most != unset) {
    atomicMax((pass == 1 ? found.a_columns : found.columns) + column, most);
  }
}

/// Four elements of a column of halves.
struct alignas(4 * sizeof(Half)) FourHalves {
  Half value[4];
};

/// The first `left_blocks` blocks write the halves [low, high, high] of A (m x inner), `m8` x 3 inner8, at
/// `left`. The others write those of B (inner x n), in each column [high; low; high], 3 inner8 x n, at
/// `right`. Zeros stand where m or the inner size end before the multiples of 8. A thread takes four elements
/// of a column at a time. `first`: what A's first column is of the inner index of the whole product.
template <class T>
__global__ void __launch_bounds__(threads)
    split(MatrixView<const T> a, MatrixView<const T> b, Exponents found, int first, Half* left, int m8,
          int left_blocks, Half* right, int inner8) {
  const bool is_left = static_cast<int>(blockIdx.x) < left_blocks;
  const unsigned block = is_left ? blockIdx.x : blockIdx.x - static_cast<unsigned>(left_blocks);
  const unsigned blocks =
      is_left ? static_cast<unsigned>(left_blocks) : gridDim.x - static_cast<unsigned>(left_blocks);
  const T* const from = is_left ? a.data : b.data;
  const std::int64_t ld = is_left ? a.ld : b.ld;
  const auto rows = static_cast<int>(is_left ? a.rows : b.rows);
  const auto columns = static_cast<int>(is_left ? a.cols : b.cols);
  const auto fours = static_cast<unsigned>((is_left ? m8 : inner8) / 4);  // of a column
  const unsigned all = fours * static_cast<unsigned>(is_left ? inner8 : columns);
  for (unsigned i = block * threads + threadIdx.x; i < all; i += blocks * threads) {
    const auto column = static_cast<int>(i / fours);
    const int row = static_cast<int>(i % fours) * 4;
    // Loaded whether they exist or not: a load under a condition of its own would be waited for.
    const int there = smaller(column, columns - 1);
    // What is common to the column: of the inner index, or of B's column.
    const int common = is_left ? found.inner(first + there) : to_top(found.columns[there]);
    float value[4];
    int own[4];
    GAUSSWEEP_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int at = smaller(row + e, rows - 1);
      value[e] = from[at + there * ld];
      own[e] = is_left ? to_top(found.rows[at]) : -found.inner(first + at);
    }
    FourHalves high, low;
    GAUSSWEEP_UNROLL
    for (int e = 0; e < 4; ++e) {
      const float x = column < columns && row + e < rows ? scaled(value[e], common + own[e]) : 0.0f;
      high.value[e] = to_half(x);
      const float rest = x - to_float(high.value[e]);
      low.value[e] = to_half(rest == rest ? rest : 0.0f);  // an infinite one has no rest
    }
    if (is_left) {
      Half* const to = left + row + static_cast<std::int64_t>(column) * m8;
      const std::int64_t part = static_cast<std::int64_t>(inner8) * m8;
      *reinterpret_cast<FourHalves*>(to) = low;
      *reinterpret_cast<FourHalves*>(to + part) = high;
      *reinterpret_cast<FourHalves*>(to + 2 * part) = high;
    } else {
      Half* const to = right + row + static_cast<std::int64_t>(column) * parts * inner8;
      *reinterpret_cast<FourHalves*>(to) = high;
      *reinterpret_cast<FourHalves*>(to + inner8) = low;
      *reinterpret_cast<FourHalves*>(to + 2 * inner8) = high;
    }
  }
}

/// C = the sums, scaled back, or C less these. A thread takes a row of four columns.
template <bool subtracted>
__global__ void __launch_bounds__(threads)
    scale_back(const float* sums, std::int64_t m8, MatrixView<float> c, const int* rows, const int* columns) {
  constexpr int each = 4;
  const auto row = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (row >= c.rows) return;
  const int begin = static_cast<int>(blockIdx.y) * each;
  const auto end = static_cast<int>(c.cols);
  float sum[each], before[each];
  GAUSSWEEP_UNROLL
  for (int e = 0; e < each; ++e) {
    const int column = smaller(begin + e, end - 1);
    sum[e] = sums[row + column * m8];
    before[e] = subtracted ? c.data[row + column * c.ld] : 0.0f;
  }
  GAUSSWEEP_UNROLL
  for (int e = 0; e < each; ++e) {
    const int column = begin + e;
    if (column >= end) return;
    const float value = scaled(sum[e], -to_top(rows[row]) - to_top(columns[column]));
    c.data[row + column * c.ld] = subtracted ? before[e] - value : value;
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::halves
