#pragma once
/// Copies of the triangle of a matrix to where tiles are whole.

#include <cmath>
#include <cstdint>

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

/// The power of two by whose square `value`, of a diagonal, becomes one in [1/2, 2]; 1 where it is not
/// positive or not finite.
template <class T>
__device__ __forceinline__ T root_scale(T value) {
  if (!(value > 0) || std::isinf(value)) return 1;
  return std::ldexp(T(1), -((std::ilogb(value) + 4097) / 2 - 2048));
}

template <class T>
__global__ void scale_diagonal(const T* a, std::int64_t lda, int n, T* scale) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) scale[i] = root_scale(a[i + i * lda]);
}

/// The triangle of the matrix of order n at `matrix`, or of its transpose where it is the upper one, to the
/// lower one at `own`. That one's order is the next multiple of 64; an identity fills it up. `back`: from
/// there. `scale`, if it is given, scales rows and columns of what is copied; of what goes back, rows, by its
/// reciprocals. A block copies 32 x 32.
template <class T>
__global__ void __launch_bounds__(256) copy_triangle(T* matrix, std::int64_t ld, int n, bool upper, T* own,
                                                     std::int64_t ld_own, bool back, const T* scale) {
  __shared__ T square[32][33];
  if (blockIdx.y > blockIdx.x) return;
  const int first_row = static_cast<int>(blockIdx.x) * 32, first_column = static_cast<int>(blockIdx.y) * 32;
  const int x = static_cast<int>(threadIdx.x) % 32, y = static_cast<int>(threadIdx.x) / 32;
  // x runs along the columns of what is read, then of what is written.
  const auto each = [&](bool turned, auto visit) {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < 4; ++k) turned ? visit(y + 8 * k, x) : visit(x, y + 8 * k);
  };
  const auto place = [&](int i, int j) { return matrix + (upper ? j + i * ld : i + j * ld); };
  each(upper && !back, [&](int r, int c) {
    const int i = first_row + r, j = first_column + c;
    if (back) {
      square[r][c] = own[i + j * ld_own];
      if (scale != nullptr && i < n) square[r][c] /= scale[i];
    } else {
      square[r][c] = i == j ? T(1) : T(0);
      if (i < n && j <= i) square[r][c] = *place(i, j);
      if (scale != nullptr && i < n && j <= i) square[r][c] = square[r][c] * scale[i] * scale[j];
    }
  });
  __syncthreads();
  each(upper && back, [&](int r, int c) {
    const int i = first_row + r, j = first_column + c;
    if (!back) {
      own[i + j * ld_own] = square[r][c];
    } else if (i < n && j <= i) {
      *place(i, j) = square[r][c];
    }
  });
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
