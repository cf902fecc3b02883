#pragma once
/// Crout's factorisation on one CPU core, as getrf/crout_serial and gesv/crout share it.

#include <cstdint>

#include "kernels/core/matrix.hpp"
#include "kernels/gemm/fma_loops.hpp"

namespace gaussweep::host {

/// A = L U in place, L with the diagonal, U with a unit diagonal that is not stored. Column-major; `row_copy`
/// has n elements. For j from the first: column j of L, then row j of U, each from what is already there.
/// Returns 0, or j (from 1) where l(j, j) is 0: the factorisation ends there.
///
/// Every element begins with a(i, j); the products are subtracted with k ascending, one fma each. The
/// fixed-point iteration does the same, so that where it ends, it ends with the same bits.
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
    for (std::int64_t i = j + 1; i < n; ++i) {
      T* other = a.data + i * a.ld;
      other[j] = loops.subtract_products(other[j], row_copy, other, j) / pivot;
    }
  }
  return 0;
}

/// B = U^-1 L^-1 B from these factors, a right-hand side after the other, column by column.
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
