#pragma once
/// The first step of trtri/levels: inverts the small triangles on the diagonal in one launch.

#include <cmath>
#include <cstdint>

#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"
#include "kernels/trsv/block_chain_inverse.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

/// The triangle to be inverted, which may be padded with an identity. Or `count` triangles of the same order
/// on a matrix's diagonal, each `next` elements behind the previous one. The matrix may end inside the last
/// one.
template <class T>
struct Triangle {
  const T* data;
  std::int64_t ld;
  int n;  ///< rows of all triangles together
  bool lower;
  bool unit;  ///< unit diagonal; the stored one is ignored
  int count = 1;
  std::int64_t next = 0;
  bool from_left = false;  ///< X A has to be close to I instead of A X, for the inverse X
};

/// Sets *info to i unless it already holds a smaller index (from 1).
__device__ __forceinline__ void note_zero(int* info, int i) {
  int seen = 0;
  for (;;) {
    const int there = atomicCAS(info, seen, i);
    if (there == seen || (there != 0 && there <= i)) return;
    seen = there;
  }
}

/// Computes d += A B, 16 x 8, by a warp over the k range from `from` to `to`, multiples of 8. d has the
/// fragment layout of a product on tensor cores (triangle_tiles.cuh). `a_apart`, `b_apart`: leading
/// dimensions of A and B.
template <class T>
__device__ __forceinline__ void add_product(T (&d)[4], const T* a, int a_apart, const T* b, int b_apart,
                                            int from, int to) {
  const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
  if constexpr (sizeof(T) == sizeof(double)) {
    GAUSSWEEP_ROLLED
    for (int k = from; k < to; k += 8) {
      const double* const own = a + g + (k + 2 * t) * a_apart;
      const double left[4] = {own[0], own[8], own[a_apart], own[a_apart + 8]};
      double right[2];
      lu::load_two(b + k + 2 * t + g * b_apart, right[0], right[1]);
      lu::multiply_16x8(d, left, right);
    }
  } else {
    for (int k = from; k < to; ++k) {
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 4; ++e) {
        d[e] = std::fma(a[g + e / 2 * 8 + k * a_apart], b[k + (2 * t + e % 2) * b_apart], d[e]);
      }
    }
  }
}

/// Replaces [X 0; L Y] with the inverses X and Y by [X 0; -Y L X Y], for all pairs of triangles of order
/// `first` in the rows from `begin` to `end`, multiples of 16. The last Y may be smaller or missing. All
/// threads must call this.
template <class T, int Order>
__device__ __forceinline__ void join_inverses(chain::Square<T, Order>& square, int first, int begin,
                                              int end) {
  constexpr int apart = chain::Square<T, Order>::leading_dimension;
  constexpr int warps = Order / 8, rounds = Order > 64 ? 2 : 1;  // tiles of a warp
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int across = first / 8, of_pair = first / 16 * across;  // tiles
  const auto for_tiles = [&](auto use) {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < rounds; ++r) {
      const int tile = warp + r * warps;
      const int base = begin + tile / of_pair * 2 * first, i = tile % of_pair / across * 16;
      if (base + first + i < end) use(r, base, i, tile % across * 8);
    }
  };
  T sums[rounds][4];
  const auto store = [&](T factor) {
    __syncthreads();
    for_tiles([&](int r, int base, int i, int j) {
      const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 4; ++e) {
        square.at(base + first + i + g + e / 2 * 8, base + j + 2 * t + e % 2) = factor * sums[r][e];
      }
    });
    __syncthreads();
  };
  const auto multiply = [&](int r, const T* a, const T* b, int from, int to) {
    GAUSSWEEP_UNROLL
    for (int e = 0; e < 4; ++e) sums[r][e] = T(0);
    add_product(sums[r], a, apart, b, apart, from, to);
  };
  for_tiles([&](int r, int base, int i, int j) {
    multiply(r, &square.at(base + first + i, base), &square.at(base, base + j), j, first);
  });
  store(T(1));
  for_tiles([&](int r, int base, int i, int j) {
    multiply(r, &square.at(base + first + i, base + first), &square.at(base + first, base + j), 0, i + 16);
  });
  store(T(-1));
}

/// Returns the Skeel condition number, the largest element of |inverse| |triangle| e (e = ones), up to which
/// the inverse of a block may come from products of inverses. Well-conditioned triangles have 4. Unit
/// triangles of LU have 100 to 1000 and lose less than a factor of 3 (trsv/block_chain.cu). For them only
/// useless results are recomputed.
template <class T>
__device__ constexpr T trusted(bool unit) {
  return unit ? T(0x1p17) : T(16);
}

/// Returns the largest |element| of a level's first product W for which its second product is trusted: 4 /
/// sqrt(half), for unit triangles of LU 2^15 / sqrt(half). W multiplies the residual of Y and the rounding
/// errors of the second product. Their signs differ, so the errors grow by about sqrt(half) max |W|.
template <class T>
T trusted_product(bool unit, int half) {
  return static_cast<T>((unit ? 0x1p15 : 4) / std::sqrt(half));
}

/// Replaces the lower triangle in `square` by its inverse and the rest by 0: by substitution, one column per
/// thread. X then satisfies |A X - I| <= g |A| |X|, or with `from_left` |X A - I| <= g |X| |A|, with g = n u
/// / (1 - n u) (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 8.5). Row i is
/// scaled by 2^-p and column i by 2^-q, where 2^(p + q) is about the pivot, so that no product overflows
/// before it cancels. All threads must call this. @pre a barrier
template <class T, int Most>
__device__ void substitute(chain::Square<T, Most>& square, bool from_left) {
  const int t = static_cast<int>(threadIdx.x), count = static_cast<int>(blockDim.x);
  T* const of_rows = square.scale;
  T* const of_columns = square.quarters[0];
  if (t < Most) {
    const T pivot = square.at(t, t);
    const int exponent = pivot != T(0) && pivot - pivot == T(0) ? std::ilogb(pivot) : 0;
    of_rows[t] = static_cast<T>(exponent >> 1);
    of_columns[t] = static_cast<T>(exponent - (exponent >> 1));
  }
  __syncthreads();
  const auto rescale = [](T value, T rows, T columns) {
    return std::ldexp(value, -static_cast<int>(rows + columns));
  };
  for (int e = t; e < Most * Most; e += count) {
    T& value = square.at(e % Most, e / Most);
    value = rescale(value, of_rows[e % Most], of_columns[e / Most]);
  }
  __syncthreads();
  if (t < Most) {
    // The inverse is stored transposed, above the diagonal.
    const T first = T(1) / square.at(t, t);
    square.reciprocals[t] = first;
    GAUSSWEEP_ROLLED
    for (int i = t + 1; !from_left && i < Most; ++i) {
      T sum = -square.at(i, t) * first;
      GAUSSWEEP_ROLLED
      for (int m = t + 1; m < i; ++m) sum = std::fma(-square.at(i, m), square.at(t, m), sum);
      square.at(t, i) = sum / square.at(i, i);
    }
    GAUSSWEEP_ROLLED
    for (int j = t - 1; from_left && j >= 0; --j) {
      T sum = -square.at(t, j) * first;
      GAUSSWEEP_ROLLED
      for (int m = j + 1; m < t; ++m) sum = std::fma(-square.at(m, j), square.at(m, t), sum);
      square.at(j, t) = sum / square.at(j, j);
    }
  }
  __syncthreads();
  for (int e = t; e < Most * Most; e += count) {
    const int i = e % Most, j = e / Most;
    if (i < j) continue;
    const T value = i == j ? square.reciprocals[i] : square.at(j, i);
    square.at(j, i) = T(0);
    square.at(i, j) = rescale(value, of_rows[j], of_columns[i]);
  }
  __syncthreads();
}

/// The order of each triangle's inverse, and the order of the blocks on its diagonal. The last block may be
/// smaller.
struct Layout {
  int order, block;
  int* needed;  ///< set to 0 for the levels that follow, unless null
};

/// Inverts one block on the diagonal per thread block and writes it to `x`: by products of inverses if that
/// is as accurate as substitution. If gridDim.y is not 1, further thread blocks copy the other blocks of the
/// triangle to `x`. blockIdx.z selects the triangle; their inverses are contiguous. `info`: receives the
/// first index, from 1, with a 0 on the diagonal; null: no check.
/// @tparam Most at least the order of a block
template <class T, int Most>
__global__ void __launch_bounds__(4 * Most)
    invert_diagonal_blocks(Triangle<T> a, T* x, std::int64_t ldx, Layout layout, int* info) {
  const int down = static_cast<int>(blockIdx.x);
  const int right = gridDim.y == 1 ? down : static_cast<int>(blockIdx.y);
  if (down + right == 0 && threadIdx.x == 0 && layout.needed != nullptr) *layout.needed = 0;
  if (a.lower ? down < right : down > right) return;
  const int triangle = static_cast<int>(blockIdx.z);
  const int before = triangle * layout.order;  // rows
  const int rows_left = a.n - before;
  const T* const from = a.data + triangle * a.next;
  x += before * ldx;
  const auto extent = [&](int block) {
    const int left = layout.order - block * layout.block;
    return left < layout.block ? left : layout.block;
  };
  const int rows = extent(down), columns = extent(right);
  const int first_row = down * layout.block, first_column = right * layout.block;
  const int t = static_cast<int>(threadIdx.x), i = t % Most, j0 = t / Most;
  // `diagonal`: the column of the diagonal element, relative to the block.
  const int row = first_row + i, diagonal = row - first_column;
  // Columns [begin, end) of the row are read; `written` columns are written.
  int begin = a.lower ? 0 : diagonal, end = a.lower ? diagonal + 1 : columns;
  if (a.unit) (a.lower ? end : begin) = a.lower ? diagonal : diagonal + 1;
  const int columns_left = rows_left - first_column < columns ? rows_left - first_column : columns;
  end = i < rows && row < rows_left ? (end < columns_left ? end : columns_left) : 0;
  const int written = i < rows ? columns : 0;
  const T* const source = from + row + first_column * a.ld;
  T* const target = x + row + first_column * ldx;
  const auto element = [&](int j) {
    return j >= begin && j < end ? source[j * a.ld] : T(j == diagonal ? 1 : 0);
  };
  if (down != right) {
    for (int j = j0; j < written; j += 4) target[j * ldx] = element(j);
    return;
  }

  auto& square = *simt::dynamic_shared<chain::Square<T, Most>>();
  // Upper triangles are rotated by 180 degrees.
  const auto turned = [&](int k) { return a.lower ? k : Most - 1 - k; };
  T* const own = &square.at(turned(i), turned(j0));
  const int step = a.lower ? 4 * square.leading_dimension : -4 * square.leading_dimension;
  T size = 0;  // sum of |element| over a quarter of the row
  GAUSSWEEP_UNROLL
  for (int k = 0; k < Most / 4; ++k) {
    const T value = element(j0 + 4 * k);
    own[k * step] = value;
    size += std::fabs(value);
  }
  square.quarters[j0][turned(i)] = size;
  if (t == 0) square.corrections = 0;
  __syncthreads();
  if (t < Most) {
    square.scale[t] = square.row_sum(t);
    const T pivot = square.at(t, t);
    if (pivot == T(0) && info != nullptr) note_zero(info, before + first_row + turned(t) + 1);
    square.reciprocals[t] = T(1) / pivot;
  }
  __syncthreads();
  square.invert_small();
  // Joins pairs of order 16, then 32, then 64. The second part of the last pair may be smaller or missing.
  const int whole = (rows + 15) / 16 * 16;
  const int place = a.lower ? 0 : Most - whole;
  GAUSSWEEP_ROLLED
  for (int first = 16; first < whole; first *= 2) join_inverses(square, first, place, place + whole);
  T condition = 0;
  GAUSSWEEP_UNROLL
  for (int k = 0; k < Most / 4; ++k)
    condition = std::fma(std::fabs(own[k * step]), square.scale[turned(j0 + 4 * k)], condition);
  square.quarters[j0][turned(i)] = condition;
  __syncthreads();
  if (t < Most && !(square.row_sum(t) <= trusted<T>(a.unit))) square.corrections = 1;
  __syncthreads();
  if (square.corrections != 0) {  // also after an overflow
    GAUSSWEEP_ROLLED
    for (int k = 0; k < Most / 4; ++k) own[k * step] = element(j0 + 4 * k);
    __syncthreads();
    substitute(square, a.from_left);
  }
  GAUSSWEEP_UNROLL
  for (int k = 0; k < Most / 4; ++k) {
    if (j0 + 4 * k < written) target[(j0 + 4 * k) * ldx] = own[k * step];
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
