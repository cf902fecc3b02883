#pragma once
/// Solves M Y = I or M Y = B with a whole lower triangle M by substitution (LowerEquation). A thread block
/// computes a strip, 32 columns of Y. The method trtri/levels uses this if products of inverses lose digits,
/// and geinv/recursive uses it for columns that are not finite.

#include <cmath>
#include <cstdint>

#include "kernels/trtri/diagonal_blocks.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

constexpr int strip_columns = 32;  ///< columns of the inverse per thread block
constexpr int strip_rows = 32;     ///< rows of the inverse per step
constexpr int strip_depth = 64;    ///< k indices per step of a product
constexpr int strip_ld = 34;  ///< leading dimension of a tile of M: strip_rows + 2 against bank conflicts
constexpr int strip_ld_deep = 66;  ///< leading dimension of a tile of Y: strip_depth + 2
constexpr int strip_threads = 256;

/// The equation M Y = I with a lower triangular M, which determines the inverse X of a triangle A. The
/// equation is either A X = I (M = A, Y = X) or A^T X^T = I (M = A^T, Y = X^T). Rows and columns are reversed
/// if M would otherwise be upper triangular. With `has_right_hand_side` the equation is M Y = B, and only
/// rows of Y are reversed. Y then replaces B.
template <class T>
struct LowerEquation {
  Triangle<T> a;
  T* x;  ///< the inverse
  std::int64_t ldx;
  int order;                         ///< the order of x; the triangle is padded with an identity
  bool has_right_hand_side = false;  ///< x holds B, a full matrix. @pre !a.from_left

  /// Returns true if M = A^T.
  __device__ bool is_transposed() const { return a.from_left; }
  /// Returns the index of the row (or column) of A and X that is row (or column) k of M and Y.
  __device__ int index_in_a(int k) const { return a.lower == a.from_left ? order - 1 - k : k; }
  /// Returns element (i, j) of M; 0 beyond its order.
  __device__ T m(int i, int j) const {
    return i >= order || j > i ? T(0) : i > j ? below_diagonal(i, j) : pivot(i);
  }
  /// Returns element (i, j) of M. @pre j < i < order
  __device__ T below_diagonal(int i, int j) const {
    const int row = index_in_a(is_transposed() ? j : i), column = index_in_a(is_transposed() ? i : j);
    return row < a.n && column < a.n ? a.data[row + column * a.ld] : T(0);
  }
  /// Returns element (i, i) of M.
  __device__ T pivot(int i) const {
    return index_in_a(i) >= a.n || a.unit ? T(1) : a.data[index_in_a(i) * (a.ld + 1)];
  }
  /// Returns true if Y has an element (i, j) that may differ from 0.
  __device__ bool may_be_nonzero(int i, int j) const {
    return i < order && j < order && (has_right_hand_side || j <= i);
  }
  /// Returns a reference to element (i, j) of Y in x.
  __device__ T& y(int i, int j) const {
    if (has_right_hand_side) return x[index_in_a(i) + j * ldx];
    return is_transposed() ? x[index_in_a(j) + index_in_a(i) * ldx] : x[index_in_a(i) + index_in_a(j) * ldx];
  }
  /// Returns element (i, j) of the right-hand side, which is I or B.
  __device__ T right_hand_side(int i, int j) const {
    if (!has_right_hand_side) return T(i == j ? 1 : 0);
    return may_be_nonzero(i, j) ? y(i, j) : T(0);
  }
};

/// The shared memory of a thread block that computes a strip.
template <class T>
struct StripTiles {
  T left[strip_ld * strip_depth];          ///< a tile of M
  T right[strip_ld_deep * strip_columns];  ///< a tile of Y; after the products, right-hand sides
  T pivots[strip_rows];
  T max_abs[strip_threads / 32][strip_rows];  ///< the largest |element| of M per row and warp
  int exponents[strip_rows];  ///< row i of M and of the right-hand side is multiplied by 2^-exponents[i]
  bool is_finite;
};

/// Computes columns [first_column, first_column + 32) of Y from row first_row on, 32 rows at a time, by a
/// thread block. Rows of Y above first_row are 0. Let g = n u / (1 - n u). The error bound is |M Y - I| <= g
/// |M| |Y| (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 8.5).
///
/// If a product overflows, these 32 rows are computed again with scaled rows of M. The scales are powers of
/// two with which no product of M and Y overflows. With a right-hand side, the rows of M are scaled from the
/// start, because Y overwrites the right-hand side.
template <class T>
__device__ void substitute_strip(const LowerEquation<T>& equation, int first_column, int first_row) {
  auto& tiles = *simt::dynamic_shared<StripTiles<T>>();
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  constexpr int warps = strip_threads / 32, loads = strip_rows * strip_depth / strip_threads;
  // value - value is not 0 if the value is infinite or NaN.
  const auto exponent_of = [](T value) {
    return value != T(0) && value - value == T(0) ? std::ilogb(value) : 0;
  };
  const auto scaled = [&](T value, int i) {
    return tiles.exponents[i] == 0 ? value : std::ldexp(value, -tiles.exponents[i]);
  };
  // Row and column of element number `element` of a tile. Elements are numbered in memory order, so that
  // loads coalesce.
  const auto row_of_left = [&](int element) {
    return equation.is_transposed() ? element / strip_depth : element % strip_rows;
  };
  const auto column_of_left = [&](int element) {
    return equation.is_transposed() ? element % strip_depth : element / strip_rows;
  };
  const auto row_of_right = [&](int element) {
    return equation.is_transposed() ? element / strip_columns : element % strip_depth;
  };
  const auto column_of_right = [&](int element) {
    return equation.is_transposed() ? element % strip_columns : element / strip_depth;
  };
  T left[loads], right[loads];  // the thread's elements of the next tiles of M and Y
  const auto load = [&](int row, int k_begin) {
    GAUSSWEEP_UNROLL
    for (int q = 0; q < loads; ++q) {
      const int element = t + q * strip_threads;
      const int i = row + row_of_left(element), k = k_begin + column_of_left(element);
      left[q] = k < row && i < equation.order ? equation.below_diagonal(i, k) : T(0);
      const int l = k_begin + row_of_right(element), j = first_column + column_of_right(element);
      right[q] = l < row && equation.may_be_nonzero(l, j) ? equation.y(l, j) : T(0);
    }
  };
  const auto store = [&] {
    GAUSSWEEP_UNROLL
    for (int q = 0; q < loads; ++q) {
      const int element = t + q * strip_threads, i = row_of_left(element);
      tiles.left[i + column_of_left(element) * strip_ld] = scaled(left[q], i);
      tiles.right[row_of_right(element) + column_of_right(element) * strip_ld_deep] = right[q];
    }
  };
  // Sets the exponents that scale 32 rows of M, from `row` on, so that no |element| exceeds 1.
  const auto find_exponents = [&](int row) {
    T largest = 0;
    for (int k = first_row + warp; k <= row + lane; k += warps) {
      const T magnitude = std::fabs(equation.m(row + lane, k));
      if (magnitude > largest) largest = magnitude;
    }
    tiles.max_abs[warp][lane] = largest;
    __syncthreads();
    if (t >= strip_rows) return;
    for (int w = 1; w < warps; ++w) {
      if (tiles.max_abs[w][t] > largest) largest = tiles.max_abs[w][t];
    }
    const int exponent = exponent_of(largest) + 1;
    tiles.exponents[t] = exponent > 0 ? exponent : 0;
  };
  const int warp_row = warp % 2 * 16, warp_column = warp / 2 * 8;
  // Computes Y in 32 rows from `row` on. Returns false if an element is not finite.
  const auto solve = [&](int row) {
    T sums[4] = {};
    if (row > first_row) load(row, first_row);
    GAUSSWEEP_ROLLED
    for (int k_begin = first_row; k_begin < row; k_begin += strip_depth) {
      __syncthreads();
      store();
      __syncthreads();
      if (k_begin + strip_depth < row) load(row, k_begin + strip_depth);
      add_product(sums, tiles.left + warp_row, strip_ld, tiles.right + warp_column * strip_ld_deep,
                  strip_ld_deep, /*k_begin=*/0, strip_depth);
    }
    __syncthreads();
    for (int element = t; element < strip_rows * strip_rows; element += strip_threads) {
      const int i = equation.is_transposed() ? element / strip_rows : element % strip_rows;
      const int k = equation.is_transposed() ? element % strip_rows : element / strip_rows;
      tiles.left[i + k * strip_ld] = scaled(equation.m(row + i, row + k), i);
    }
    if (t < strip_rows) tiles.pivots[t] = row + t < equation.order ? equation.pivot(row + t) : T(1);
    if (t == 0) tiles.is_finite = true;
    GAUSSWEEP_UNROLL
    for (int s = 0; s < 4; ++s) {
      const int i = warp_row + lane / 4 + s / 2 * 8, j = warp_column + 2 * (lane % 4) + s % 2;
      tiles.right[i + j * strip_ld_deep] =
          scaled(equation.right_hand_side(row + i, first_column + j), i) - sums[s];
    }
    __syncthreads();
    // A warp solves for four columns of Y. Lane i has row i of the 32 x 32 triangle on M's diagonal.
    constexpr int columns_per_warp = strip_columns / warps;
    T y[columns_per_warp];
    GAUSSWEEP_UNROLL
    for (int c = 0; c < columns_per_warp; ++c)
      y[c] = tiles.right[lane + (warp * columns_per_warp + c) * strip_ld_deep];
    GAUSSWEEP_ROLLED
    for (int k = 0; k < strip_rows; ++k) {
      const T m_element = tiles.left[lane + k * strip_ld], pivot = tiles.pivots[k];
      const int exponent = tiles.exponents[k];
      T quotient = 0;  // lane l divides in column l % columns_per_warp
      GAUSSWEEP_UNROLL
      for (int c = 0; c < columns_per_warp; ++c) {
        const T sum = __shfl_sync(0xffffffffu, y[c], k);
        if (lane % columns_per_warp == c) quotient = sum;
      }
      if (exponent == 0) {
        quotient /= pivot;
      } else {  // undoes the scale of row k; the pivot is divided by its power of two against overflow
        const int pivot_exponent = exponent_of(pivot);
        quotient = std::ldexp(quotient / std::ldexp(pivot, -pivot_exponent), exponent - pivot_exponent);
      }
      GAUSSWEEP_UNROLL
      for (int c = 0; c < columns_per_warp; ++c) {
        const T solved = __shfl_sync(0xffffffffu, quotient, c);
        if (lane == k) y[c] = solved;
        if (lane > k) y[c] = std::fma(-m_element, solved, y[c]);
      }
    }
    bool is_finite = true;
    GAUSSWEEP_UNROLL
    for (int c = 0; c < columns_per_warp; ++c) {
      const int j = first_column + warp * columns_per_warp + c;
      if (!equation.may_be_nonzero(row + lane, j)) continue;
      equation.y(row + lane, j) = y[c];
      is_finite = is_finite && y[c] - y[c] == T(0);
    }
    if (!is_finite) tiles.is_finite = false;
    __syncthreads();
    return tiles.is_finite;
  };
  GAUSSWEEP_ROLLED
  for (int row = first_row; row < equation.order; row += strip_rows) {
    if (t < strip_rows) tiles.exponents[t] = 0;
    __syncthreads();
    bool is_scaled = equation.has_right_hand_side;
    if (is_scaled) find_exponents(row);
    __syncthreads();
    GAUSSWEEP_ROLLED
    while (!solve(row) && !is_scaled) {  // a second solve if the first one overflows
      is_scaled = true;
      find_exponents(row);
      __syncthreads();
    }
    __syncthreads();
  }
}

/// Computes the lower triangle of Y if *needs_substitution is not 0. Thread block s computes the columns
/// [32 s, 32 s + 32).
template <class T>
__global__ void __launch_bounds__(strip_threads)
    invert_by_strips(LowerEquation<T> equation, const int* needs_substitution) {
  simt::griddepcontrol_wait();
  if (*needs_substitution == 0) return;
  const int first_column = static_cast<int>(blockIdx.x) * strip_columns;
  substitute_strip(equation, first_column, first_column);
}

/// Launches invert_by_strips for the whole inverse. Asynchronous.
template <class T>
void invert_if_needed(Context& context, const LowerEquation<T>& equation, const int* needs_substitution) {
  context.stage("substitution");
  simt::launch_early(context, invert_by_strips<T>,
                     dim3(static_cast<unsigned>((equation.order + strip_columns - 1) / strip_columns)),
                     dim3(strip_threads), sizeof(StripTiles<T>), equation, needs_substitution);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
