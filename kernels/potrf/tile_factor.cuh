#pragma once
/// The Cholesky factorisation of a 64 x 64 tile in shared memory by one thread block, and the solve X L^T = B
/// with the factor L. B has 64 or 128 rows. A tile has 64 rows and columns (`tile_order`); the 8 x 8 tiles
/// are parts of it.
///
/// A warp computes an 8 x 8 tile C in the layout of the m8n8k4 tensor-core instruction. Let g = lane / 4 and
/// t = lane % 4. A lane holds row g and columns 2t and 2t + 1 of C. As an operand, a lane holds element
/// (g, t) of an 8 x 4 tile. A product of 8 x 8 tiles takes two instructions with a permuted k range. The lane
/// passes column 2t to the first one and column 2t + 1 to the second one. Both operands have the same
/// permutation, which does not change the sum of their products.

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/potrf/tile_product.cuh"
#include "kernels/trsv/block_chain_tiles.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

/// Leading dimensions in shared memory of a triangle and of the inverse of an 8 x 8 diagonal tile.
constexpr int triangle_stride = tile_order + 2;
constexpr int inverse_stride = lu::inverse_stride;
constexpr int shared_inverse_elements =
    tile_order * inverse_stride;  ///< elements of a triangle's 8 x 8 inverses
/// Every diagonal tile has a mailbox in global memory. The thread block that factors the tile stores it
/// there, and the thread blocks that solve for the tiles below read it. The mailbox holds the columns of the
/// factored tile. The columns of the inverses of the 8 x 8 diagonal tiles follow from element
/// mailbox_inverses on.
constexpr int mailbox_inverses = tile_order * tile_order;
constexpr int mailbox_size = mailbox_inverses + tile_order * 8;  ///< elements of a mailbox

/// Stores an element in a mailbox. No flag is needed: until an element is sent, all of its bits are set. No
/// sent number has this pattern, a NaN, because NaNs are replaced by another NaN.
template <class T>
__device__ __forceinline__ void send(T* target, T value) {
  simt::store_volatile(target, chain::with_canonical_nan(value));
}

/// Computes c -= A B^T for 8 x 8 tiles of the triangle in shared memory, with one warp. The tile c begins at
/// (row, column), A at (row, k_begin) and B at (column, k_begin).
template <class T>
__device__ __forceinline__ void update_8x8(T* triangle, int row, int column, int k_begin) {
  const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
  T* const target = triangle + (column + 2 * t) * triangle_stride + row + g;
  const T* const left = triangle + k_begin * triangle_stride + row + g;
  const T* const right = triangle + k_begin * triangle_stride + column;
  T c[2] = {target[0], target[triangle_stride]};
  if constexpr (sizeof(T) == sizeof(double)) {
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) {  // multiply_8x8 adds the products of columns h, h + 2, h + 4 and h + 6
      lu::multiply_8x8(c, -left[(2 * t + h) * triangle_stride], right[(2 * t + h) * triangle_stride + g]);
    }
  } else {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < 8; ++k) {
      const T negated = -left[k * triangle_stride];
      GAUSSWEEP_UNROLL
      for (int q = 0; q < 2; ++q) c[q] = std::fma(negated, right[k * triangle_stride + 2 * t + q], c[q]);
    }
  }
  target[0] = c[0];
  target[triangle_stride] = c[1];
}

/// Returns 1 / sqrt(x) to about 20 bits. @pre x is a normal number
template <class T>
__device__ __forceinline__ T approximate_reciprocal_root(T x) {
#ifdef __CUDA_ARCH__
  T y;
  if constexpr (sizeof(T) == sizeof(double)) {
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  } else {
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  }
  return y;
#else
  const T y = T(1) / std::sqrt(x);  // truncated to 21 bits below
  int exponent;
  const T mantissa = std::frexp(y, &exponent);
  return std::isfinite(y) ? std::ldexp(std::floor(mantissa * T(0x1p21)) * T(0x1p-21), exponent) : y;
#endif
}

/// Computes the same eight columns as factor_8_columns (below), but with sqrt and division, as in LAPACK.
/// This path is rare. Its loops are therefore rolled: that keeps the code short, but the compiler puts `rows`
/// in local memory.
template <class T>
__device__ __forceinline__ void factor_8_columns_by_division(const T* triangle, int first, T* reciprocals,
                                                             int& failed, T (&own_row)[8]) {
  constexpr int own_index = 8;  // in `rows`, the thread's row follows the rows of the diagonal tile
  T rows[9][8];
  GAUSSWEEP_ROLLED
  for (int i = 0; i <= own_index; ++i) {
    const int row = i < own_index ? first + i : static_cast<int>(threadIdx.x);
    GAUSSWEEP_UNROLL
    for (int k = 0; k < 8; ++k) rows[i][k] = triangle[(first + k) * triangle_stride + row];
  }
  GAUSSWEEP_ROLLED
  for (int k = 0; k < 8; ++k) {
    const T root = std::sqrt(rows[k][k]), reciprocal = T(1) / root;
    if (!(root > T(0) && root <= std::numeric_limits<T>::max()) && failed < 0) failed = first + k;
    const bool is_diagonal = static_cast<int>(threadIdx.x) == first + k;
    if (is_diagonal) reciprocals[first + k] = reciprocal;
    T column[8];
    GAUSSWEEP_UNROLL
    for (int j = 0; j < 8; ++j) column[j] = rows[j][k] * reciprocal;
    GAUSSWEEP_ROLLED
    for (int i = k + 1; i <= own_index; ++i) {
      const T element = i == own_index && is_diagonal ? root : rows[i][k] * reciprocal;
      rows[i][k] = element;
      GAUSSWEEP_UNROLL
      for (int j = 1; j < 8; ++j) {
        if (j > k && j <= i) rows[i][j] = std::fma(-element, column[j], rows[i][j]);
      }
    }
  }
  GAUSSWEEP_UNROLL
  for (int k = 0; k < 8; ++k) own_row[k] = rows[own_index][k];
}

/// Factors eight columns beginning at `first`; each of 64 threads computes one row. Every thread also factors
/// the 8 x 8 diagonal tile, so that no thread waits for another. Rows below the diagonal tile are stored in
/// `triangle`. Rows of the diagonal tile are only returned in `own_row`, because other threads still read
/// them.
/// @param reciprocals receives the reciprocals of the factor's diagonal
/// @param failed if negative, becomes the first column whose pivot is not a positive finite number
/// @param own_row receives the thread's row
/// @param by_division true: computes the columns by factor_8_columns_by_division
///
/// For a pivot p let y be an approximation of 1 / sqrt(p), and e = 1 - p y^2. Then 1 / p = y^2 (1 + e + e^2 +
/// ...), and 1 / sqrt(p) = y (1 + e / 2 + 3 e^2 / 8 + ...). The next pivot is computed from the first series,
/// four operations after y, because the pivots are a dependency chain. The columns need the accurate root of
/// the second series; they are computed concurrently. If a pivot is not a normal number, all eight columns
/// are computed again by factor_8_columns_by_division.
///
/// The series has up to six more roundings per diagonal element than LAPACK. At orders up to 3 they would
/// visibly increase residuals, which are measured in units of n u (u: the unit roundoff). `by_division`
/// therefore avoids the series.
template <class T>
__device__ __forceinline__ void factor_8_columns(T* triangle, int first, T* reciprocals, int& failed,
                                                 T (&own_row)[8], bool by_division) {
  const int row = static_cast<int>(threadIdx.x);
  T tile[8][8];
  GAUSSWEEP_UNROLL
  for (int k = 0; k < 8; ++k) {
    const T* const column = triangle + (first + k) * triangle_stride;
    own_row[k] = column[row];
    GAUSSWEEP_UNROLL
    for (int i = k / 2 * 2; i < 8; i += 2) load_two(column + first + i, tile[i][k], tile[i + 1][k]);
  }
  bool all_normal = !by_division;
  // Above the diagonal of the diagonal tile, `own_row` has meaningless values, which are not stored.
  T pivot = tile[0][0];
  GAUSSWEEP_UNROLL
  for (int k = 0; k < 8; ++k) {
    const T y = approximate_reciprocal_root(pivot);
    const T root_estimate = pivot * y;
    const T e = std::fma(-root_estimate, y, T(1));
    const T this_pivot = pivot;
    if (k < 7) {
      const T below_estimate = tile[k + 1][k] * y;
      const T square = below_estimate * below_estimate;
      pivot = std::fma(-square, std::fma(e, e, e), tile[k + 1][k + 1] - square);
    }
    const T correction = e * std::fma(T(0.375), e, T(0.5));
    const T reciprocal = std::fma(y, correction, y);
    const bool is_pivot =
        this_pivot >= std::numeric_limits<T>::min() && this_pivot <= std::numeric_limits<T>::max();
    all_normal = all_normal && is_pivot;
    if (row == first + k) reciprocals[first + k] = reciprocal;
    const T root = this_pivot * reciprocal;
    own_row[k] = row == first + k ? std::fma(std::fma(-root, root, this_pivot), T(0.5) * reciprocal, root)
                                  : own_row[k] * reciprocal;
    GAUSSWEEP_UNROLL
    for (int i = k + 1; i < 8; ++i) tile[i][k] *= reciprocal;
    GAUSSWEEP_UNROLL
    for (int j = k + 1; j < 8; ++j) {
      GAUSSWEEP_UNROLL
      for (int i = j; i < 8; ++i) tile[i][j] = std::fma(-tile[i][k], tile[j][k], tile[i][j]);
      own_row[j] = std::fma(-own_row[k], tile[j][k], own_row[j]);
    }
  }
  if (!all_normal) factor_8_columns_by_division(triangle, first, reciprocals, failed, own_row);
  GAUSSWEEP_UNROLL
  for (int k = 0; k < 8; ++k) {
    if (row >= first + 8) triangle[(first + k) * triangle_stride + row] = own_row[k];
  }
}

/// Inverts the 8 x 8 diagonal tile at (first, first) and sends the inverse to the mailbox, with one warp.
template <class T>
__device__ __forceinline__ void invert_8x8(const T* triangle, const T* reciprocals, int first, T* mailbox) {
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
  for (int i = 0; i < 8; ++i) send(mailbox + mailbox_inverses + (first + column) * 8 + i, y[i]);
}

/// Replaces the lower triangle of a 64 x 64 tile by its Cholesky factor, with a thread block of 8 warps. Step
/// s factors columns 8 s to 8 s + 7 by two warps. The other warps concurrently apply the previous eight
/// columns to the rest of the tile (look-ahead). The columns and inverses that RowSolver needs are sent to
/// `mailbox` as they are computed.
/// @param reciprocals 64 elements of shared memory
/// @param by_division passed to factor_8_columns for the first eight columns; later columns use false
/// @return the first column whose pivot is not a positive finite number, or -1; valid in the first warp
template <class T>
__device__ __forceinline__ int factor_tile(T* triangle, T* reciprocals, T* mailbox, bool by_division) {
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  int failed = -1;
  T own_row[8];
  GAUSSWEEP_ROLLED
  for (int s = 0; s < 8; ++s) {
    if (warp < 2) {
      factor_8_columns(triangle, 8 * s, reciprocals, failed, own_row, by_division && s == 0);
    } else if (s > 0) {
      if (warp == 7) invert_8x8(triangle, reciprocals, 8 * (s - 1), mailbox);
      // Applies 8 x 8 tile column s - 1 to tile columns s + 1 to 7. The previous step has updated column s.
      // The six warps 2 to 7 take tiles in turn. `number` counts tiles from the diagonal down, column by
      // column.
      int number = warp - 2;
      GAUSSWEEP_ROLLED
      for (int j = s + 1; j < 8; ++j) {
        GAUSSWEEP_ROLLED
        for (; number < 8 - j; number += 6) update_8x8(triangle, 8 * (j + number), 8 * j, 8 * (s - 1));
        number -= 8 - j;
      }
    }
    __syncthreads();
    // After the barrier no thread reads the unfactored 8 x 8 diagonal tile, and its eight rows can be stored.
    if (thread / 8 == s) {
      GAUSSWEEP_UNROLL
      for (int k = 0; k < 8; ++k) {
        if (thread % 8 >= k) triangle[(8 * s + k) * triangle_stride + thread] = own_row[k];
      }
    }
    // The diagonal tile itself is not sent: receivers use its inverse.
    if (thread < tile_order && thread >= 8 * s + 8) {
      GAUSSWEEP_UNROLL
      for (int k = 0; k < 8; ++k) send(mailbox + (8 * s + k) * tile_order + thread, own_row[k]);
    }
    // Applies the new columns to tile column s + 1, which the next step factors.
    if (s + 1 + warp < 8) update_8x8(triangle, 8 * (s + 1 + warp), 8 * (s + 1), 8 * s);
    __syncthreads();
  }
  if (warp == 7) invert_8x8(triangle, reciprocals, 56, mailbox);
  return failed;
}

/// Solves X L^T = B in place of B, eight columns at a time. Multiplies them by the transposed inverse of the
/// 8 x 8 diagonal tile of L. Subtracts the product of the solved columns and L^T from the later columns. A
/// warp solves for 16 rows of X. X (with leading dimension Stride), L and the inverses are in shared memory.
template <class T, int Stride>
class RowSolver {
 public:
  /// @param remaining registers: [j][e] is the lane's element e of the j-th unsolved 16 x 8 tile
  __device__ __forceinline__ RowSolver(T* x, T (&remaining)[8][4])
      : remaining_(remaining),
        x_(x),
        first_(static_cast<int>(threadIdx.x) / 32 * 16),
        lane_(static_cast<int>(threadIdx.x) % 32) {}
  /// Initialises the registers: from B in double, with 0 in float.
  __device__ __forceinline__ void load() {
    GAUSSWEEP_UNROLL
    for (int j = 0; j < 8; ++j) {
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 4; ++e) remaining_[j][e] = adds_b_last ? T(0) : x_[column(j, e) * Stride + row(e)];
    }
  }
  /// Solves columns 8m to 8m + 7, and calls store(row, column, element) for each element. @pre the calls have
  /// m = 0, 1, ..., 7 in this order
  template <class Store>
  __device__ __forceinline__ void solve(int m, const T* triangle, const T* inverses, Store store) {
    const int g = lane_ / 4, t = lane_ % 4;
    T solved[4] = {0, 0, 0, 0};
    if (adds_b_last) {
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 4; ++e) remaining_[0][e] += x_[column(m, e) * Stride + row(e)];
    }
    // An accumulator has elements (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1). As the left operand of
    // multiply_16x8, the order is by columns. In float, columns 2t and 2t + 1 take the places of t and t + 4.
    const T left[4] = {remaining_[0][0], remaining_[0][2], remaining_[0][1], remaining_[0][3]};
    const T* const inverse = inverses + (8 * m + 2 * t) * inverse_stride + g;
    const T right[2] = {inverse[0], inverse[inverse_stride]};
    multiply_16x8(solved, left, right);
    const T negated_solved[4] = {-solved[0], -solved[2], -solved[1], -solved[3]};
    const T* const l_columns = triangle + (8 * m + 2 * t) * triangle_stride + g;
    // The registers shift by eight columns per call. All calls therefore run the same code, which avoids
    // misses in the instruction cache.
    GAUSSWEEP_UNROLL
    for (int j = 1; j < 8; ++j) {
      if (m + j < 8) {
        const T l[2] = {l_columns[8 * (m + j)], l_columns[triangle_stride + 8 * (m + j)]};
        multiply_16x8(remaining_[j], negated_solved, l);
      }
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 4; ++e) remaining_[j - 1][e] = remaining_[j][e];
    }
    GAUSSWEEP_UNROLL
    for (int e = 0; e < 4; ++e) {
      x_[column(m, e) * Stride + row(e)] = solved[e];
      store(row(e), column(m, e), solved[e]);
    }
  }

 private:
  /// Return the row and the column of the lane's element e of 16 x 8 tile j. A lane has columns 2t and 2t + 1
  /// of rows g and g + 8.
  __device__ __forceinline__ int row(int e) const { return first_ + lane_ / 4 + e / 2 * 8; }
  __device__ __forceinline__ int column(int j, int e) const { return 8 * j + 2 * (lane_ % 4) + e % 2; }

  /// True in float: the sums of products begin at 0, and B is added last. Tensor cores truncate when they add
  /// to an accumulator, and a smaller accumulator loses less.
  static constexpr bool adds_b_last = sizeof(T) == sizeof(float);
  T (&remaining_)[8][4];
  T* x_;
  int first_, lane_;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
