#pragma once
/// Crout's factorisation on one CPU core, for getrf/crout_serial and gesv/crout.

#include <cstdint>

#include "kernels/core/matrix.hpp"
#include "kernels/gemm/fma_loops.hpp"

namespace gaussweep::host {

/// Factors A = L U in place; U's unit diagonal is not stored. A is column-major; `row_copy` is workspace for
/// n elements. For each j, computes column j of L and then row j of U from the finished columns and rows.
/// Returns 0, or the first j (from 1) with l(j, j) = 0, which ends the factorisation.
///
/// The products l(i, k) u(k, j) are subtracted from a(i, j) with k ascending, one fma each. The fixed-point
/// iteration (fixed_point_steps.cuh) does the same and therefore converges to the same bits.
template <class T>
std::int64_t crout_factorise(MatrixView<T> a, T* row_copy) {
  const FmaLoops<T> loops = fma_loops<T>();
  const std::int64_t n = a.rows;
  for (std::int64_t j = 0; j < n; ++j) {
    T* column = a.data + j * a.ld;
    for (std::int64_t k = 0; k < j; ++k) {
      loops.subtract_multiple(column + j, a.data + j + k * a.ld, column[k], n - j);
    }
    const T pivot = column[j];
    if (pivot == T(0)) return j + 1;
    for (std::int64_t k = 0; k < j; ++k) row_copy[k] = a.data[j + k * a.ld];
    for (std::int64_t i = j + 1; i < n; ++i) {  // u(j, i)
      T* u_column = a.data + i * a.ld;
      u_column[j] = loops.subtract_products(u_column[j], row_copy, u_column, j) / pivot;
    }
  }
  return 0;
}

/// Computes B = U^-1 L^-1 B with the factors of crout_factorise, one right-hand side after the other. Both
/// substitutions go through the columns of the factors, which are contiguous (axpy form).
template <class T>
void crout_substitute(MatrixView<T> lu, MatrixView<T> b) {
  const FmaLoops<T> loops = fma_loops<T>();
  const std::int64_t n = lu.rows;
  for (std::int64_t r = 0; r < b.cols; ++r) {
    T* x = b.data + r * b.ld;
    for (std::int64_t k = 0; k < n; ++k) {
      const T* column = lu.data + k * lu.ld;
      x[k] /= column[k];
      loops.subtract_multiple(x + k + 1, column + k + 1, x[k], n - k - 1);
    }
    for (std::int64_t k = n - 1; k > 0; --k) loops.subtract_multiple(x, lu.data + k * lu.ld, x[k], k);
  }
}

}  // namespace gaussweep::host
