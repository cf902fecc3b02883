#pragma once
/// Steps of geinv/recursive after LU: the solve of U X = L^-1 and the exchange of columns. geinv/halves and
/// geinv/residues also use the solve of L X = I, whose large products can be computed from half-precision
/// numbers (halves) or 8-bit residues.
///
/// A solve with a triangle of 256 rows on U's diagonal uses the kernel of getrf/recursive for unit lower
/// triangles (lu_updates.cuh). For this kernel, the triangle's rows and columns are reversed, and each row is
/// divided by its diagonal element.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/getrf/copy_columns.cuh"
#include "kernels/getrf/lu_products.cuh"
#include "kernels/getrf/lu_updates.cuh"
#include "kernels/simt/simt.hpp"
#include "kernels/trtri/large_tiles.cuh"
#include "kernels/trtri/whole_substitution.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::inverse {

constexpr int threads = 256;            ///< threads per block of the kernels in this namespace
constexpr int elements_per_thread = 4;  ///< elements of a column that a thread copies

/// Reverses the rows and columns of the triangles of 256 rows on U's diagonal, and divides their rows by the
/// diagonal elements. They become unit lower triangles. Row i of U becomes row order - 1 - i of `reversed`
/// (order x 256). The triangles begin at multiples of 256 rows of `reversed`. Sets reciprocals[i] to 1 / u(i,
/// i). A thread block processes 256 rows of one column; gridDim.y is the number of columns.
template <class T>
__global__ void __launch_bounds__(threads)
    reverse_triangles(const T* u, std::int64_t ldu, int order, T* reversed, T* reciprocals) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);  // of `reversed`
  const int column = static_cast<int>(blockIdx.y);
  if (row >= order || column > row % lu::max_solve_rows_per_launch) return;
  const int i = order - 1 - row;
  const int j = order - 1 - (row / lu::max_solve_rows_per_launch * lu::max_solve_rows_per_launch + column);
  const T pivot = u[i * (ldu + 1)];
  if (i == j) {
    reciprocals[i] = T(1) / pivot;
  } else {
    reversed[row + column * static_cast<std::int64_t>(order)] = u[i + j * ldu] / pivot;
  }
}

/// Computes 32 columns of X = U^-1 L^-1 again, by substitution with scaled rows of U, if one of them is not
/// finite. Checks only the first element of each column, which is computed last, from all others. Does
/// nothing if *info is not 0. Thread block s checks the columns [32 s, 32 s + 32). The functions `levels::*`
/// and the strips, sets of 32 columns, are those of trtri/whole_substitution.cuh.
/// @param l, u the equations L Y = I and U X = Y; I, Y and X share the same memory
template <class T>
__global__ void __launch_bounds__(levels::strip_threads)
    substitute_again(levels::LowerEquation<T> l, levels::LowerEquation<T> u, const int* info) {
  simt::griddepcontrol_wait();
  const int thread = static_cast<int>(threadIdx.x);
  const int first_column = static_cast<int>(blockIdx.x) * levels::strip_columns;
  const int column = first_column + thread % 32;
  const T first_element = column < u.order ? u.x[column * u.ldx] : T(0);
  // x - x is 0 if x is finite, else NaN.
  if (__any_sync(0xffffffffu, first_element - first_element == T(0) ? 0 : 1) == 0 || *info != 0) return;
  __syncthreads();  // all warps have read first_element
  for (int e = thread; e < u.order * levels::strip_columns; e += levels::strip_threads) {
    const int i = e % u.order, j = first_column + e / u.order;
    if (j < u.order) u.x[i + j * u.ldx] = T(i == j ? 1 : 0);
  }
  GAUSSWEEP_ROLLED
  for (int solve = 0; solve < 2; ++solve) {
    __syncthreads();
    levels::substitute_strip(solve == 0 ? l : u, first_column, solve == 0 ? first_column : 0);
  }
}

/// Copies the first n rows of column j of `from` to column target_columns[j] of `to` (n x n); blockIdx.y is
/// j.
template <class T>
__global__ void __launch_bounds__(threads)
    exchange_columns(const T* from, std::int64_t ld_from, const int* target_columns, T* to,
                     std::int64_t ld_to, int n) {
  const int begin =
      static_cast<int>(blockIdx.x) * elements_per_thread * threads + static_cast<int>(threadIdx.x);
  const T* const source = from + static_cast<int>(blockIdx.y) * ld_from;
  simt::griddepcontrol_wait();
  T* const target = to + target_columns[blockIdx.y] * ld_to;
  T value[elements_per_thread];
  GAUSSWEEP_UNROLL
  for (int e = 0; e < elements_per_thread; ++e) {
    if (begin + e * threads < n) value[e] = source[begin + e * threads];
  }
  GAUSSWEEP_UNROLL
  for (int e = 0; e < elements_per_thread; ++e) {
    if (begin + e * threads < n) target[begin + e * threads] = value[e];
  }
}

/// Returns the number of rows that a recursive solve of `count` > max_solve_rows_per_launch rows solves
/// first: the largest max_solve_rows_per_launch * 2^k below `count`.
inline int first_part(int count) {
  int part = lu::max_solve_rows_per_launch;
  while (2 * part < count) part *= 2;
  return part;
}

/// Replaces the identity X by L^-1 for a unit lower triangular L, by substitution.
/// @tparam Products as for lu::subtract_product
template <class T, class Products>
struct LowerInverse {
  Context& context;
  const T* l;
  std::int64_t ldl;
  T* x;
  std::int64_t ldx;
  Products* products;

  /// Computes the nonzero part of rows [first, first + count) of X. @pre the rows above are complete
  void solve(int first, int count) {
    if (count <= lu::max_solve_rows_per_launch) {
      return lu::solve_in_one_launch(context, l + first * (ldl + 1), ldl, count, x + first, ldx,
                                     /*columns=*/first + count);
    }
    const int upper = first_part(count);
    const int middle = first + upper;
    solve(first, upper);
    lu::subtract_product(context, products, count - upper, middle, upper, l + middle + first * ldl, ldl,
                         x + first, ldx, x + middle, ldx);
    solve(middle, count - upper);
  }
};

/// Replaces B by U^-1 B, block row by block row from the last one up.
template <class T, class Products>
struct UpperSolve {
  Context& context;
  const T* u;
  std::int64_t ldu;
  int order;  ///< of U
  T* b;
  std::int64_t ldb;
  int columns;
  T* reversed;     ///< order x 256 elements of workspace
  T* reciprocals;  ///< workspace of `order` elements
  Products* products;
  /// True if B is the identity of order `order`. U^-1 B is then upper triangular, and only its nonzero part
  /// is computed.
  bool inverts = false;
  /// In double, solves with 8 x 8 diagonal tiles of U multiply by the tiles' inverses. The solution is
  /// refined if a column sum of the tile or of its inverse exceeds this limit.
  double max_uncorrected_sum = 32;

  void solve() {
    context.stage("reverse");
    const dim3 grid(static_cast<unsigned>((order + threads - 1) / threads),
                    static_cast<unsigned>(std::min(order, lu::max_solve_rows_per_launch)));
    simt::launch(context, reverse_triangles<T>, grid, dim3(threads), 0, u, ldu, order, reversed, reciprocals);
    solve(0, order);
  }

 private:
  /// Solves for rows [first, first + count). @pre the rows below are complete
  void solve(int first, int count) {
    if (count <= lu::max_solve_rows_per_launch) {
      const int last = first + count - 1, begin = inverts ? first : 0;
      return lu::solve_in_one_launch<lu::RowOrder::reversed>(
          context, reversed + (order - 1 - last), order, count, b + last + begin * ldb, ldb, columns - begin,
          reciprocals + last, max_uncorrected_sum);
    }
    const int lower = first_part(count);
    const int upper = count - lower;
    const int middle = first + upper;
    solve(middle, lower);
    int begin = inverts ? middle : 0;
    if (inverts && multiply_triangle(first, middle, lower)) begin += lower;
    if (begin < columns) {
      lu::subtract_product(context, products, upper, columns - begin, lower, u + first + middle * ldu, ldu,
                           b + middle + begin * ldb, ldb, b + first + begin * ldb, ldb);
    }
    solve(first, upper);
  }
  /// Updates the columns of B in which the rows below are triangular, by one launch of trtri/large_tiles.cuh.
  /// Returns false, and does nothing, if large tiles cannot be used or if one row of tiles would leave most
  /// of the GPU idle.
  bool multiply_triangle(int first, int middle, int lower) {
    if constexpr (std::is_same_v<T, double>) {
      levels::LevelProduct<T> p{};
      p.a = u + first + middle * ldu;
      p.lda = ldu;
      p.b = b + middle * (ldb + 1);
      p.ldb = ldb;
      p.c = b + first + middle * ldb;
      p.ldc = ldb;
      p.rows = p.last_rows = middle - first;
      p.columns = p.last_columns = p.k = lower;
      p.k_range = levels::KRange::up_to_columns;
      p.factor = -1;
      if (p.rows <= 64 || !levels::supports_large_tiles(context)) return false;
      context.stage("product");
      levels::multiply_by_large_tiles(context, p, /*pairs=*/1, levels::min_large_tiles_of_level);
      return true;
    }
    return false;
  }
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::inverse
