#pragma once
/// The inverse of a whole triangle by substitution, a strip of columns per thread block. trtri/levels uses it
/// for triangles whose blocks, multiplied by inverses, would lose digits.

#include <cmath>
#include <cstdint>

#include "kernels/trtri/diagonal_blocks.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

constexpr int strip_columns = 32;     ///< of the inverse, per thread block
constexpr int strip_rows = 32;        ///< rows of the inverse that are solved for together
constexpr int strip_depth = 64;       ///< k indices per step of a product
constexpr int strip_apart = 34;       ///< elements between columns of a tile with strip_rows rows
constexpr int strip_apart_deep = 66;  ///< elements between columns of a tile with strip_depth rows
constexpr int strip_threads = 256;

/// The equation M Y = I with a lower triangular M. Y is the inverse X, or its transpose, since X A = I is
/// equivalent to A^T X^T = I. Rows and columns are reversed if only that makes M lower triangular.
template <class T>
struct LowerEquation {
  Triangle<T> a;
  T* x;  ///< the inverse
  std::int64_t ldx;
  int order;  ///< the order of x; the triangle is padded with an identity

  __device__ bool is_transposed() const { return a.from_left; }
  /// Returns the row and column of A and X that correspond to row and column k of M and Y.
  __device__ int line(int k) const { return a.lower == a.from_left ? order - 1 - k : k; }
  __device__ T m(int i, int j) const {
    if (i >= order || j > i) return T(0);
    const int row = line(is_transposed() ? j : i), column = line(is_transposed() ? i : j);
    if (row >= a.n || column >= a.n || (a.unit && i == j)) return T(i == j ? 1 : 0);
    return a.data[row + column * a.ld];
  }
  __device__ T& y(int i, int j) const {
    return is_transposed() ? x[line(j) + line(i) * ldx] : x[line(i) + line(j) * ldx];
  }
};

template <class T>
struct StripTiles {
  T left[strip_apart * strip_depth];          ///< a tile of M
  T right[strip_apart_deep * strip_columns];  ///< a tile of Y; later right-hand sides
  T largest[strip_threads / 32][strip_rows];  ///< |M| in a row, a part per warp
  int exponents[strip_rows];                  ///< row i of M and of I is multiplied by 2^-exponents[i]
  T pivots[strip_rows];                       ///< from 1 to 2, times 2^pivot_exponents[i]
  int pivot_exponents[strip_rows];
};

/// Computes the lower triangle of Y if *needed is not 0. Then |M Y - I| <= g |M| |Y| with g = n u / (1 - n u)
/// (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 8.5). Rows of M with elements
/// above 1 are scaled by powers of two, so that no product of M and Y overflows. Thread block s computes the
/// columns [32 s, 32 s + 32).
template <class T>
__global__ void __launch_bounds__(strip_threads) invert_by_strips(LowerEquation<T> e, const int* needed) {
  simt::griddepcontrol_wait();
  if (*needed == 0) return;
  auto& tiles = *simt::dynamic_shared<StripTiles<T>>();
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  const int first_column = static_cast<int>(blockIdx.x) * strip_columns;
  const auto exponent_of = [](T value) {
    return value != T(0) && value - value == T(0) ? std::ilogb(value) : 0;
  };
  // Loads M in 32 rows from `row` on and in `depth` columns from `from` on; 0 from column `end` on.
  const auto load_left = [&](int row, int from, int depth, int end) {
    for (int at = t; at < strip_rows * depth; at += strip_threads) {
      const int i = e.is_transposed() ? at / depth : at % strip_rows;
      const int k = e.is_transposed() ? at % depth : at / strip_rows;
      const T value = from + k < end ? e.m(row + i, from + k) : T(0);
      tiles.left[i + k * strip_apart] = std::ldexp(value, -tiles.exponents[i]);
    }
  };
  const auto load_right = [&](int from, int end) {
    for (int at = t; at < strip_depth * strip_columns; at += strip_threads) {
      const int k = e.is_transposed() ? at / strip_columns : at % strip_depth;
      const int j = e.is_transposed() ? at % strip_columns : at / strip_depth;
      const bool is_there = from + k < end && from + k >= first_column + j;
      tiles.right[k + j * strip_apart_deep] = is_there ? e.y(from + k, first_column + j) : T(0);
    }
  };
  const auto find_exponents = [&](int row) {
    if (t < strip_rows) tiles.exponents[t] = 0;
    T largest = 0;
    GAUSSWEEP_ROLLED
    for (int from = first_column; from < row + strip_rows; from += strip_depth) {
      __syncthreads();
      load_left(row, from, strip_depth, e.order);
      __syncthreads();
      for (int k = warp; k < strip_depth; k += strip_threads / 32) {
        const T size = std::fabs(tiles.left[lane + k * strip_apart]);
        if (size > largest) largest = size;
      }
    }
    tiles.largest[warp][lane] = largest;
    __syncthreads();
    if (t >= strip_rows) return;
    for (int w = 1; w < strip_threads / 32; ++w) {
      if (tiles.largest[w][t] > largest) largest = tiles.largest[w][t];
    }
    const int exponent = exponent_of(largest) + 1;
    tiles.exponents[t] = exponent > 0 ? exponent : 0;
    const T pivot = row + t < e.order ? e.m(row + t, row + t) : T(1);
    tiles.pivot_exponents[t] = exponent_of(pivot);
    tiles.pivots[t] = std::ldexp(pivot, -exponent_of(pivot));
  };
  const int warp_row = warp % 2 * 16, warp_column = warp / 2 * 8;
  GAUSSWEEP_ROLLED
  for (int row = first_column; row < e.order; row += strip_rows) {
    find_exponents(row);
    T sums[4] = {};
    GAUSSWEEP_ROLLED
    for (int from = first_column; from < row; from += strip_depth) {
      __syncthreads();
      load_left(row, from, strip_depth, row);
      load_right(from, row);
      __syncthreads();
      add_product(sums, tiles.left + warp_row, strip_apart, tiles.right + warp_column * strip_apart_deep,
                  strip_apart_deep, 0, strip_depth);
    }
    __syncthreads();
    load_left(row, row, strip_rows, e.order);
    GAUSSWEEP_UNROLL
    for (int s = 0; s < 4; ++s) {
      const int i = warp_row + lane / 4 + s / 2 * 8, j = warp_column + 2 * (lane % 4) + s % 2;
      const T of_identity = row + i == first_column + j ? std::ldexp(T(1), -tiles.exponents[i]) : T(0);
      tiles.right[i + j * strip_apart_deep] = of_identity - sums[s];
    }
    __syncthreads();
    // A warp solves for four columns; a lane has a row of the triangle.
    constexpr int each = strip_columns / (strip_threads / 32);
    T y[each];
    GAUSSWEEP_UNROLL
    for (int c = 0; c < each; ++c) y[c] = tiles.right[lane + (warp * each + c) * strip_apart_deep];
    GAUSSWEEP_ROLLED
    for (int k = 0; k < strip_rows; ++k) {
      const T own = tiles.left[lane + k * strip_apart], pivot = tiles.pivots[k];
      const int exponent = tiles.exponents[k] - tiles.pivot_exponents[k];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < each; ++c) {
        const T solved = std::ldexp(__shfl_sync(0xffffffffu, y[c], k) / pivot, exponent);
        if (lane == k) y[c] = solved;
        if (lane > k) y[c] = std::fma(-own, solved, y[c]);
      }
    }
    GAUSSWEEP_UNROLL
    for (int c = 0; c < each; ++c) {
      const int j = first_column + warp * each + c;
      if (row + lane < e.order && j <= row + lane) e.y(row + lane, j) = y[c];
    }
  }
}

/// Inverts the triangle by substitution if *needed is not 0. Asynchronous.
template <class T>
void invert_if_needed(Context& context, const LowerEquation<T>& equation, const int* needed) {
  context.stage("substitution");
  simt::launch_early(context, invert_by_strips<T>,
                     dim3(static_cast<unsigned>((equation.order + strip_columns - 1) / strip_columns)),
                     dim3(strip_threads), sizeof(StripTiles<T>), equation, needed);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
