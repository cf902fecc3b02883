/// gesv/gauss_serial: Gaussian elimination on one CPU core, without pivoting or with partial pivoting.
///
/// F. Fuhrmann, TU Wien 2017, algorithms 4.1 and 4.2, with their misprints corrected. For k = 0, 1, …,
/// divides row k by its diagonal element and subtracts a multiple of row k from every row below, in all
/// columns. Rows whose element in column k is 0 are skipped. Back substitution then runs from the last row to
/// the first. If the parameter `pivoting` is `partial`, row k is first exchanged with the row that has the
/// largest element on or below the diagonal; the thesis does not exchange rows. (gesv/gauss_pivot_serial does
/// not update eliminated columns.)
///
/// Layout: [A | B] row-major, overwritten; X is a separate column-major matrix. Cost: n^3 / 2 multiply-adds
/// (the thesis subtracts in all columns from 0). Workspace: none. Without pivoting, A must be strongly
/// regular: a zero leading minor gives info > 0, and a small one gives an inaccurate answer. With pivoting,
/// only a singular matrix gives info > 0.
///
/// Error: |b - A x| is of the order n u |L| |U| |x| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.4). Without pivoting |L| |U| may be far larger than |A|. With
/// pivoting the norm of |L| |U| rarely exceeds n times that of A.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/gemm/fma_loops.hpp"
#include "kernels/gesv/pivot_search.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::host {

template <class T>
void gesv_gauss_serial(Context& context, Operands<T>& op, const Parameters& parameters) {
  const std::int64_t n = op.shape.n;
  const std::int64_t columns = op.a.cols;
  const bool pivoting = parameters.choice("pivoting") == "partial";
  const FmaLoops<T> loops = fma_loops<T>();
  context.stage("eliminate");
  for (std::int64_t k = 0; k < n; ++k) {
    T* pivot_row = op.a.data + k * op.a.ld;
    if (pivoting) {
      const std::int64_t pivot_offset = find_pivot(pivot_row + k, op.a.ld, n - k);
      if (pivot_offset > 0)
        std::swap_ranges(pivot_row, pivot_row + columns, pivot_row + pivot_offset * op.a.ld);
    }
    const T divisor = pivot_row[k];
    if (divisor == T(0)) {
      *op.info = static_cast<int>(k + 1);
      return;
    }
    for (std::int64_t j = 0; j < columns; ++j) pivot_row[j] /= divisor;
    for (std::int64_t i = k + 1; i < n; ++i) {
      T* row = op.a.data + i * op.a.ld;
      const T factor = row[k];
      if (factor == T(0)) continue;
      loops.subtract_multiple(row, pivot_row, factor, columns);
    }
  }
  context.stage("back_substitute");
  for (std::int64_t r = 0; r < op.shape.nrhs; ++r) {
    T* solution = op.x.data + r * op.x.ld;
    for (std::int64_t i = n - 1; i >= 0; --i) {
      const T* row = op.a.data + i * op.a.ld;
      T remainder = row[n + r];
      for (std::int64_t j = n - 1; j > i; --j) remainder = std::fma(-row[j], solution[j], remainder);
      solution[i] = remainder;
    }
  }
}

GAUSSWEEP_INSTANTIATE(gesv_gauss_serial)

}  // namespace gaussweep::host
