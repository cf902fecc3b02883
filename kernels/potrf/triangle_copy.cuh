#pragma once
/// Copies of a triangle to and from a matrix of whole tiles, for recursive_cholesky.cuh.

#include <cmath>
#include <cstdint>

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

/// Returns the power of two s for which s^2 `value` is in [1/2, 2). Returns 1 if `value` is negative, 0,
/// infinite or NaN. The offset 4097 keeps the dividend positive, so that the division rounds down; 2048
/// undoes the offset.
template <class T>
__device__ __forceinline__ T root_scale(T value) {
  if (!(value > 0) || std::isinf(value)) return 1;
  return std::ldexp(T(1), -((std::ilogb(value) + 4097) / 2 - 2048));
}

/// Computes the factors for rows and columns that scale the diagonal to [1/2, 2).
template <class T>
__global__ void scale_diagonal(const T* a, std::int64_t lda, int n, T* scale) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) scale[i] = root_scale(a[i + i * lda]);
}

/// Copies a triangle of `matrix` (of order n) to the lower triangle of `padded_copy`, or back. The order of
/// `padded_copy` is n rounded up to a multiple of 64; an identity pads it. A thread block copies 32 x 32
/// elements.
/// @param upper true: the triangle of `matrix` is the upper one, and is transposed; false: the lower one
/// @param back true: copies from `padded_copy` to `matrix`
/// @param scale null, or factors for the rows and columns of the copy (the diagonal of S). With `back`, only
/// the rows are divided by them, because the Cholesky factor of S A S is S times the factor of A
template <class T>
__global__ void __launch_bounds__(256)
    copy_triangle(T* matrix, std::int64_t ld, int n, bool upper, T* padded_copy, std::int64_t padded_ld,
                  bool back, const T* scale) {
  __shared__ T square[32][33];
  if (blockIdx.y > blockIdx.x) return;
  const int first_row = static_cast<int>(blockIdx.x) * 32, first_column = static_cast<int>(blockIdx.y) * 32;
  const int x = static_cast<int>(threadIdx.x) % 32, y = static_cast<int>(threadIdx.x) / 32;
  // Accesses coalesce because x is the contiguous index: of the source when reading, of the destination when
  // writing.
  const auto for_each = [&](bool transposed, auto visit) {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < 4; ++k) transposed ? visit(y + 8 * k, x) : visit(x, y + 8 * k);
  };
  const auto element = [&](int i, int j) { return matrix + (upper ? j + i * ld : i + j * ld); };
  for_each(upper && !back, [&](int r, int c) {
    const int i = first_row + r, j = first_column + c;
    if (back) {
      square[r][c] = padded_copy[i + j * padded_ld];
      if (scale != nullptr && i < n) square[r][c] /= scale[i];
    } else {
      square[r][c] = i == j ? T(1) : T(0);
      if (i < n && j <= i) square[r][c] = *element(i, j);
      if (scale != nullptr && i < n && j <= i) square[r][c] = square[r][c] * scale[i] * scale[j];
    }
  });
  __syncthreads();
  for_each(upper && back, [&](int r, int c) {
    const int i = first_row + r, j = first_column + c;
    if (!back) {
      padded_copy[i + j * padded_ld] = square[r][c];
    } else if (i < n && j <= i) {
      *element(i, j) = square[r][c];
    }
  });
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
