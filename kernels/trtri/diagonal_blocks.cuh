#pragma once
/// The first step of trtri/levels: inverts the triangles on the diagonal, of order 96 or less, in one launch.
/// A thread block keeps its triangle in shared memory as a chain::SharedTriangle
/// (trsv/block_chain_inverse.cuh).

#include <cmath>
#include <cstdint>

#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"
#include "kernels/trsv/block_chain_inverse.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

/// The triangle to be inverted, or `count` triangles of the same order on a matrix's diagonal. The matrix may
/// end inside the last triangle; beyond its end the triangles are padded with an identity.
template <class T>
struct Triangle {
  const T* data;
  std::int64_t ld;
  int n;  ///< rows of all triangles together
  bool lower;
  bool unit;  ///< true: the triangle has a unit diagonal, and the stored diagonal is ignored
  int count = 1;
  std::int64_t triangle_stride = 0;  ///< elements from one triangle to the next one
  bool from_left = false;  ///< true: |X A - I| must be small instead of |A X - I|, for the inverse X of A
};

/// Sets *info to the index i, from 1, unless *info already holds a smaller index.
__device__ __forceinline__ void record_zero(int* info, int i) {
  int expected = 0;
  for (;;) {
    const int stored = atomicCAS(info, expected, i);
    if (stored == expected || (stored != 0 && stored <= i)) return;
    expected = stored;
  }
}

/// Computes d += A B with one warp. d has 16 x 8 elements. Lane 4g + t holds rows g and g + 8 of columns 2t
/// and 2t + 1, the layout of an mma fragment (triangle_tiles.cuh). A and B are column-major in shared memory.
/// The bounds of the k range [k_begin, k_end) are multiples of 8.
template <class T>
__device__ __forceinline__ void add_product(T (&d)[4], const T* a, int lda, const T* b, int ldb, int k_begin,
                                            int k_end) {
  const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
  if constexpr (sizeof(T) == sizeof(double)) {
    GAUSSWEEP_ROLLED
    for (int k = k_begin; k < k_end; k += 8) {
      const double* const a_fragment = a + g + (k + 2 * t) * lda;
      const double left[4] = {a_fragment[0], a_fragment[8], a_fragment[lda], a_fragment[lda + 8]};
      double right[2];
      lu::load_two(b + k + 2 * t + g * ldb, right[0], right[1]);
      lu::multiply_16x8(d, left, right);
    }
  } else {
    for (int k = k_begin; k < k_end; ++k) {
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 4; ++e) {
        d[e] = std::fma(a[g + e / 2 * 8 + k * lda], b[k + (2 * t + e % 2) * ldb], d[e]);
      }
    }
  }
}

/// Replaces [X, 0; L, Y] by [X, 0; -Y L X, Y], where X and Y are already inverses of order `order`. Does so
/// for all such pairs in rows [begin, end), whose bounds are multiples of 16. The last Y may be smaller or
/// missing. All threads must call this.
template <class T, int Order>
__device__ __forceinline__ void join_inverses(chain::SharedTriangle<T, Order>& shared, int order, int begin,
                                              int end) {
  constexpr int ld = chain::SharedTriangle<T, Order>::leading_dimension;
  constexpr int warps = Order / 8, rounds = Order > 64 ? 2 : 1;  // a warp computes `rounds` tiles of 16 x 8
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int tiles_across = order / 8, tiles_per_pair = order / 16 * tiles_across;
  // Calls visit(r, base, i, j) for the warp's tiles. Tile r begins at row i and column j of the block L of
  // the pair whose first row is `base`.
  const auto for_tiles = [&](auto visit) {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < rounds; ++r) {
      const int tile = warp + r * warps;
      const int base = begin + tile / tiles_per_pair * 2 * order,
                i = tile % tiles_per_pair / tiles_across * 16;
      if (base + order + i < end) visit(r, base, i, tile % tiles_across * 8);
    }
  };
  T sums[rounds][4];
  // Replaces the tiles in L by factor * sums.
  const auto store = [&](T factor) {
    __syncthreads();
    for_tiles([&](int r, int base, int i, int j) {
      const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 4; ++e) {
        shared.at(base + order + i + g + e / 2 * 8, base + j + 2 * t + e % 2) = factor * sums[r][e];
      }
    });
    __syncthreads();
  };
  const auto multiply = [&](int r, const T* a, const T* b, int k_begin, int k_end) {
    GAUSSWEEP_UNROLL
    for (int e = 0; e < 4; ++e) sums[r][e] = T(0);
    add_product(sums[r], a, ld, b, ld, k_begin, k_end);
  };
  // L X: column j of the lower triangular X begins at row j.
  for_tiles([&](int r, int base, int i, int j) {
    multiply(r, &shared.at(base + order + i, base), &shared.at(base, base + j), j, order);
  });
  store(/*factor=*/T(1));
  // Y (L X): rows i to i + 15 of the lower triangular Y end at column i + 15.
  for_tiles([&](int r, int base, int i, int j) {
    multiply(r, &shared.at(base + order + i, base + order), &shared.at(base + order, base + j), /*k_begin=*/0,
             i + 16);
  });
  store(/*factor=*/T(-1));
}

/// Returns the limit of a block's Skeel condition number, the largest element of |inverse| |triangle| e with
/// e = (1, ..., 1). Above the limit, the block is inverted by substitution instead of products of inverses.
///
/// The condition number is about 4 for well-conditioned triangles. Unit triangles of LU have condition
/// numbers of 100 to 1000 and lose less than a factor of 3 in accuracy (trsv/block_chain.cu). The limit for
/// unit triangles is so high that only useless inverses are replaced.
template <class T>
__device__ constexpr T max_condition(bool unit) {
  return unit ? T(0x1p17) : T(16);
}

/// Returns the limit of the largest |element| of a level's first product W = L X (levels.cuh). It is
/// 4 / sqrt(half), or 2^15 / sqrt(half) for unit triangles of LU. W multiplies the residual of Y and the
/// rounding errors of the second product. These errors have random signs and grow by about sqrt(half) max
/// |W|.
/// @param half order of X and Y
template <class T>
T max_product(bool unit, int half) {
  return static_cast<T>((unit ? 0x1p15 : 4) / std::sqrt(half));
}

/// Replaces the lower triangle in `shared` by its inverse X and the rest by 0, by substitution. Each thread
/// computes one column of X (with `from_left` one row). Let g = n u / (1 - n u). Then |A X - I| <= g |A| |X|,
/// or with `from_left` |X A - I| <= g |X| |A| (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd
/// ed., theorem 8.5). First scales row i by 2^-p(i) and column i by 2^-q(i), where 2^(p(i) + q(i)) is about
/// |diagonal element i|. Products that later cancel then do not overflow. All threads must call this. @pre a
/// barrier has followed the last access to `shared`
template <class T, int MaxOrder>
__device__ void substitute(chain::SharedTriangle<T, MaxOrder>& shared, bool from_left) {
  const int t = static_cast<int>(threadIdx.x), count = static_cast<int>(blockDim.x);
  // The exponents p and q reuse the memory of row sums.
  T* const row_exponents = shared.scale;
  T* const column_exponents = shared.quarters[0];
  if (t < MaxOrder) {
    const T pivot = shared.at(t, t);
    const int exponent = pivot != T(0) && pivot - pivot == T(0) ? std::ilogb(pivot) : 0;
    row_exponents[t] = static_cast<T>(exponent >> 1);
    column_exponents[t] = static_cast<T>(exponent - (exponent >> 1));
  }
  __syncthreads();
  const auto rescale = [](T value, T rows, T columns) {
    return std::ldexp(value, -static_cast<int>(rows + columns));
  };
  for (int e = t; e < MaxOrder * MaxOrder; e += count) {
    T& value = shared.at(e % MaxOrder, e / MaxOrder);
    value = rescale(value, row_exponents[e % MaxOrder], column_exponents[e / MaxOrder]);
  }
  __syncthreads();
  if (t < MaxOrder) {
    // The inverse is stored transposed, above the diagonal.
    const T reciprocal = T(1) / shared.at(t, t);
    shared.reciprocals[t] = reciprocal;
    GAUSSWEEP_ROLLED
    for (int i = t + 1; !from_left && i < MaxOrder; ++i) {
      T sum = -shared.at(i, t) * reciprocal;
      GAUSSWEEP_ROLLED
      for (int m = t + 1; m < i; ++m) sum = std::fma(-shared.at(i, m), shared.at(t, m), sum);
      shared.at(t, i) = sum / shared.at(i, i);
    }
    GAUSSWEEP_ROLLED
    for (int j = t - 1; from_left && j >= 0; --j) {
      T sum = -shared.at(t, j) * reciprocal;
      GAUSSWEEP_ROLLED
      for (int m = j + 1; m < t; ++m) sum = std::fma(-shared.at(m, j), shared.at(m, t), sum);
      shared.at(j, t) = sum / shared.at(j, j);
    }
  }
  __syncthreads();
  for (int e = t; e < MaxOrder * MaxOrder; e += count) {
    const int i = e % MaxOrder, j = e / MaxOrder;
    if (i < j) continue;
    const T value = i == j ? shared.reciprocals[i] : shared.at(j, i);
    shared.at(j, i) = T(0);
    shared.at(i, j) = rescale(value, row_exponents[j], column_exponents[i]);
  }
  __syncthreads();
}

/// The sizes of a launch of invert_diagonal_blocks.
struct DiagonalBlocksLayout {
  int order;                ///< order of each triangle's inverse
  int block;                ///< order of the blocks on the diagonal; the last block may be smaller
  int* needs_substitution;  ///< null, or the flag that later levels set; set to 0 here
};

/// Inverts one block on the diagonal per thread block and writes the inverse to `x`. Joins inverses of
/// smaller triangles by products if that is as accurate as substitution, and substitutes otherwise. If
/// gridDim.y is not 1, further thread blocks copy the other blocks of the triangle to `x`. The index
/// blockIdx.z selects the triangle; the inverses of several triangles are contiguous.
/// @tparam MaxOrder upper limit of the order of a block
/// @param info null, or receives the index, from 1, of the first 0 on the diagonal
template <class T, int MaxOrder>
__global__ void __launch_bounds__(4 * MaxOrder)
    invert_diagonal_blocks(Triangle<T> a, T* x, std::int64_t ldx, DiagonalBlocksLayout layout, int* info) {
  // The block row and block column of the block that this thread block inverts or copies.
  const int block_row = static_cast<int>(blockIdx.x);
  const int block_column = gridDim.y == 1 ? block_row : static_cast<int>(blockIdx.y);
  if (block_row + block_column == 0 && threadIdx.x == 0 && layout.needs_substitution != nullptr)
    *layout.needs_substitution = 0;
  if (a.lower ? block_row < block_column : block_row > block_column) return;
  const int triangle = static_cast<int>(blockIdx.z);
  const int first_matrix_row = triangle * layout.order;
  const int rows_left = a.n - first_matrix_row;
  const T* const triangle_data = a.data + triangle * a.triangle_stride;
  x += first_matrix_row * ldx;
  const auto extent = [&](int block) {
    const int remaining = layout.order - block * layout.block;
    return remaining < layout.block ? remaining : layout.block;
  };
  const int rows = extent(block_row), columns = extent(block_column);
  const int first_row = block_row * layout.block, first_column = block_column * layout.block;
  const int t = static_cast<int>(threadIdx.x), i = t % MaxOrder, j0 = t / MaxOrder;
  // The thread reads and writes elements of one row. `row` is counted from the triangle's first row, columns
  // are counted from the block's first column. `diagonal` is the column of the row's diagonal element.
  const int row = first_row + i, diagonal = row - first_column;
  // Columns [begin, end) of the row are read; `written_columns` columns are written.
  int begin = a.lower ? 0 : diagonal, end = a.lower ? diagonal + 1 : columns;
  // A unit diagonal is not read.
  if (a.unit) (a.lower ? end : begin) = a.lower ? diagonal : diagonal + 1;
  const int columns_left = rows_left - first_column < columns ? rows_left - first_column : columns;
  end = i < rows && row < rows_left ? (end < columns_left ? end : columns_left) : 0;
  const int written_columns = i < rows ? columns : 0;
  const T* const source = triangle_data + row + first_column * a.ld;
  T* const target = x + row + first_column * ldx;
  const auto element = [&](int j) {
    return j >= begin && j < end ? source[j * a.ld] : T(j == diagonal ? 1 : 0);
  };
  if (block_row != block_column) {
    for (int j = j0; j < written_columns; j += 4) target[j * ldx] = element(j);
    return;
  }

  auto& shared = *simt::dynamic_shared<chain::SharedTriangle<T, MaxOrder>>();
  // Upper triangles are rotated by 180 degrees, which makes them lower triangles.
  const auto rotated = [&](int k) { return a.lower ? k : MaxOrder - 1 - k; };  // index in `shared`
  T* const own_elements = &shared.at(rotated(i), rotated(j0));
  const int step = a.lower ? 4 * shared.leading_dimension : -4 * shared.leading_dimension;
  T abs_sum = 0;  // sum of |element| over a quarter of the row
  GAUSSWEEP_UNROLL
  for (int k = 0; k < MaxOrder / 4; ++k) {
    const T value = element(j0 + 4 * k);
    own_elements[k * step] = value;
    abs_sum += std::fabs(value);
  }
  shared.quarters[j0][rotated(i)] = abs_sum;
  if (t == 0) shared.corrections = 0;  // here a flag: 1 if the block must be inverted by substitution
  __syncthreads();
  if (t < MaxOrder) {
    shared.scale[t] = shared.row_sum(t);
    const T pivot = shared.at(t, t);
    if (pivot == T(0) && info != nullptr) record_zero(info, first_matrix_row + first_row + rotated(t) + 1);
    shared.reciprocals[t] = T(1) / pivot;
  }
  __syncthreads();
  shared.invert_16x16();
  // Joins pairs of order 16, then 32, then 64. The second inverse of the last pair may be smaller or missing.
  const int padded_rows = (rows + 15) / 16 * 16;
  const int padded_begin = a.lower ? 0 : MaxOrder - padded_rows;
  GAUSSWEEP_ROLLED
  for (int pair_order = 16; pair_order < padded_rows; pair_order *= 2)
    join_inverses(shared, pair_order, padded_begin, padded_begin + padded_rows);
  // The largest element of |inverse| (|triangle| e) is Skeel's condition number. `scale` is |triangle| e.
  T condition = 0;
  GAUSSWEEP_UNROLL
  for (int k = 0; k < MaxOrder / 4; ++k)
    condition = std::fma(std::fabs(own_elements[k * step]), shared.scale[rotated(j0 + 4 * k)], condition);
  shared.quarters[j0][rotated(i)] = condition;
  __syncthreads();
  if (t < MaxOrder && !(shared.row_sum(t) <= max_condition<T>(a.unit))) shared.corrections = 1;
  __syncthreads();
  if (shared.corrections != 0) {  // the condition number is above the limit, or NaN after an overflow
    GAUSSWEEP_ROLLED
    for (int k = 0; k < MaxOrder / 4; ++k) own_elements[k * step] = element(j0 + 4 * k);
    __syncthreads();
    substitute(shared, a.from_left);
  }
  GAUSSWEEP_UNROLL
  for (int k = 0; k < MaxOrder / 4; ++k) {
    if (j0 + 4 * k < written_columns) target[(j0 + 4 * k) * ldx] = own_elements[k * step];
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
