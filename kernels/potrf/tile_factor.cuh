#pragma once
/// The Cholesky factor of one 64 x 64 tile in shared memory by one thread block, and rows X of
/// X L^T = B with it.

#include <cmath>
#include <cstdint>

#include "kernels/potrf/tile_product.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

/// Elements between two columns of a triangle in shared memory, and between two columns of the inverse of one
/// of its 8 x 8 tiles on the diagonal; of these all, in shared memory and outside.
constexpr int triangle_stride = order + 2;
constexpr int inverse_stride = lu::inverse_stride;
constexpr int inverses_in_shared = order * inverse_stride;
constexpr int inverses_size = order * 8;

template <class T>
__device__ __forceinline__ T reciprocal_root(T x) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == sizeof(double)) {
    return ::rsqrt(x);
  } else {
    const T y = ::rsqrtf(x);
    return fmaf(y * 0.5f, fmaf(-x * y, y, 1.0f), y);
  }
#else
  return T(1) / std::sqrt(x);
#endif
}

/// c -= A B^T for 8 x 8 tiles of the triangle in shared memory, by one warp: rows from `row` on, columns from
/// `column` on, and the columns [inner, inner + 8) of both.
template <class T>
__device__ __forceinline__ void update_8x8(T* triangle, int row, int column, int inner) {
  const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
  T* const place = triangle + (column + 2 * t) * triangle_stride + row + g;
  const T* const left = triangle + inner * triangle_stride + row + g;
  const T* const right = triangle + inner * triangle_stride + column;
  T c[2] = {place[0], place[triangle_stride]};
  if constexpr (sizeof(T) == sizeof(double)) {
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) {
      lu::multiply_8x8(c, -left[(2 * t + h) * triangle_stride], right[(2 * t + h) * triangle_stride + g]);
    }
  } else {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < 8; ++k) {
      const T own = -left[k * triangle_stride];
      GAUSSWEEP_UNROLL
      for (int q = 0; q < 2; ++q) c[q] = std::fma(own, right[k * triangle_stride + 2 * t + q], c[q]);
    }
  }
  place[0] = c[0];
  place[triangle_stride] = c[1];
}

/// Eight columns of the factor, from `first` on: a thread a row of 64. All hold the 8 x 8 tile on the
/// diagonal and eliminate in it, so that none waits for another. The diagonal's reciprocals go to
/// `reciprocals`. The first column whose pivot is not positive, if `failed` is none yet, becomes it. Rows of
/// the tile itself, which others read, are left in `own`.
template <class T>
__device__ __forceinline__ void factor_8_columns(T* triangle, int first, T* reciprocals, int& failed,
                                                 T (&own)[8]) {
  const int row = static_cast<int>(threadIdx.x);
  T tile[8][8];
  GAUSSWEEP_UNROLL
  for (int k = 0; k < 8; ++k) {
    const T* const column = triangle + (first + k) * triangle_stride;
    own[k] = column[row];
    GAUSSWEEP_UNROLL
    for (int i = k; i < 8; ++i) tile[i][k] = column[first + i];
  }
  // In the tile itself what is above the diagonal is no number of ours, and is not stored.
  GAUSSWEEP_UNROLL
  for (int k = 0; k < 8; ++k) {
    const T pivot = tile[k][k];
    if (!(pivot > T(0)) && failed < 0) failed = first + k;  // NaN too
    const T reciprocal = reciprocal_root(pivot);
    if (row == first + k) reciprocals[first + k] = reciprocal;
    own[k] *= reciprocal;
    GAUSSWEEP_UNROLL
    for (int i = k + 1; i < 8; ++i) tile[i][k] *= reciprocal;
    GAUSSWEEP_UNROLL
    for (int j = k + 1; j < 8; ++j) {
      GAUSSWEEP_UNROLL
      for (int i = j; i < 8; ++i) tile[i][j] = std::fma(-tile[i][k], tile[j][k], tile[i][j]);
      own[j] = std::fma(-own[k], tile[j][k], own[j]);
    }
  }
  GAUSSWEEP_UNROLL
  for (int k = 0; k < 8; ++k) {
    if (row >= first + 8) triangle[(first + k) * triangle_stride + row] = own[k];
  }
}

/// The inverse of the 8 x 8 tile on the diagonal from `first` on, column by column to `inverses`, by one
/// warp.
template <class T>
__device__ __forceinline__ void invert_8x8(const T* triangle, const T* reciprocals, int first, T* inverses) {
  const int column = static_cast<int>(threadIdx.x) % 32;
  if (column >= 8) return;
  T y[8];
  GAUSSWEEP_UNROLL
  for (int i = 0; i < 8; ++i) y[i] = i == column ? T(1) : T(0);
  GAUSSWEEP_UNROLL
  for (int k = 0; k < 8; ++k) {
    y[k] *= reciprocals[first + k];
    GAUSSWEEP_UNROLL
    for (int i = k + 1; i < 8; ++i) {
      y[i] = std::fma(-triangle[(first + k) * triangle_stride + first + i], y[k], y[i]);
    }
  }
  GAUSSWEEP_UNROLL
  for (int i = 0; i < 8; ++i) inverses[(first + column) * 8 + i] = y[i];
}

/// The lower triangle of a 64 x 64 tile by its Cholesky factor, by a block of 8 warps: eight columns at a
/// time by two of them, while the others do what the columns before left to do further on. `reciprocals`: 64
/// in shared memory; `inverses`: inverses_size outside.
/// @return the first column whose pivot is not positive, or -1; known to the first warp
template <class T>
__device__ __forceinline__ int factor_tile(T* triangle, T* reciprocals, T* inverses) {
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  int failed = -1;
  T own[8];
  GAUSSWEEP_ROLLED
  for (int s = 0; s < 8; ++s) {
    if (warp < 2) {
      factor_8_columns(triangle, 8 * s, reciprocals, failed, own);
    } else if (s > 0) {
      if (warp == 7) invert_8x8(triangle, reciprocals, 8 * (s - 1), inverses);
      int number = warp - 2;  // of the tiles right of the next column of tiles, column by column
      GAUSSWEEP_ROLLED
      for (int j = s + 1; j < 8; ++j) {
        GAUSSWEEP_ROLLED
        for (; number < 8 - j; number += 6) update_8x8(triangle, 8 * (j + number), 8 * j, 8 * (s - 1));
        number -= 8 - j;
      }
    }
    __syncthreads();
    if (thread / 8 == s) {
      GAUSSWEEP_UNROLL
      for (int k = 0; k < 8; ++k) {
        if (thread % 8 >= k) triangle[(8 * s + k) * triangle_stride + thread] = own[k];
      }
    }
    if (s + 1 + warp < 8) update_8x8(triangle, 8 * (s + 1 + warp), 8 * (s + 1), 8 * s);
    __syncthreads();
  }
  if (warp == 7) invert_8x8(triangle, reciprocals, 56, inverses);
  return failed;
}

/// Rows X of X L^T = B, in place of B: `rows` of them, X[column * Stride + row], in shared memory; L and its
/// inverses in shared memory, inverses inverse_stride apart. store(row, column, element) gets each element
/// besides. By the first rows / 16 warps; others return at once.
template <int Stride, class T, class Store>
__device__ __forceinline__ void solve_rows(const T* triangle, const T* inverses, T* x, int rows,
                                           Store store) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first = static_cast<int>(threadIdx.x) / 32 * 16;
  if (first >= rows) return;
  if constexpr (sizeof(T) == sizeof(double)) {
    const int g = lane / 4, t = lane % 4;
    double rest[8][4];  // of each 16 x 8 tile (row g, column 2t), (g, 2t + 1), and the same of row g + 8
    GAUSSWEEP_UNROLL
    for (int j = 0; j < 8; ++j) {
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 4; ++e) rest[j][e] = x[(8 * j + 2 * t + e % 2) * Stride + first + g + e / 2 * 8];
    }
    GAUSSWEEP_UNROLL
    for (int m = 0; m < 8; ++m) {
      double solved[4] = {0, 0, 0, 0};
      const double left[4] = {rest[m][0], rest[m][2], rest[m][1], rest[m][3]};
      const T* const inverse = inverses + (8 * m + 2 * t) * inverse_stride + g;
      const double right[2] = {inverse[0], inverse[inverse_stride]};
      lu::multiply_16x8(solved, left, right);
      const double factor[4] = {-solved[0], -solved[2], -solved[1], -solved[3]};
      const T* const below = triangle + (8 * m + 2 * t) * triangle_stride + g;
      GAUSSWEEP_UNROLL
      for (int j = m + 1; j < 8; ++j) {
        const double l[2] = {below[8 * j], below[triangle_stride + 8 * j]};
        lu::multiply_16x8(rest[j], factor, l);
      }
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 4; ++e) {
        const int row = first + g + e / 2 * 8, column = 8 * m + 2 * t + e % 2;
        x[column * Stride + row] = solved[e];
        store(row, column, solved[e]);
      }
    }
  } else {
    if (lane >= 16) return;
    const int row = first + lane;
    GAUSSWEEP_ROLLED
    for (int m = 0; m < order; m += 8) {
      T rest[8], solved[8];
      GAUSSWEEP_UNROLL
      for (int i = 0; i < 8; ++i) rest[i] = x[(m + i) * Stride + row];
      GAUSSWEEP_ROLLED
      for (int k = 0; k < m; ++k) {
        const T own = -x[k * Stride + row];
        GAUSSWEEP_UNROLL
        for (int i = 0; i < 8; ++i) rest[i] = std::fma(own, triangle[k * triangle_stride + m + i], rest[i]);
      }
      GAUSSWEEP_UNROLL
      for (int i = 0; i < 8; ++i) {
        solved[i] = 0;
        GAUSSWEEP_UNROLL
        for (int k = 0; k <= i; ++k) {
          solved[i] = std::fma(rest[k], inverses[(m + k) * inverse_stride + i], solved[i]);
        }
      }
      GAUSSWEEP_UNROLL
      for (int i = 0; i < 8; ++i) {
        x[(m + i) * Stride + row] = solved[i];
        store(row, m + i, solved[i]);
      }
    }
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
