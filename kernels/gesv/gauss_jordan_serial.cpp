/// gesv/gauss_jordan_serial: Gauss-Jordan elimination with partial pivoting on one CPU core.
///
/// X. Xia and J. C. Lee, "Modified CUDA Gaussian Elimination", the serial Gauss-Jordan code. In every column
/// the row with the largest element on or below the diagonal becomes the pivot row. A multiple of it is
/// subtracted from all other rows, above and below. A is then diagonal; the right-hand sides are divided by
/// the diagonal, without back substitution.
///
/// Layout: [A | B] row-major; the answer replaces B. Cost: n^3 / 2 multiply-adds, 1.5 times those of
/// gesv/gauss_pivot_serial, which uses back substitution. Workspace: none. A must be nonsingular: a column
/// without a nonzero pivot gives info > 0 and ends the method. The residual grows with the condition number
/// of A for any choice of pivots: this method fails for Hilbert and Cauchy matrices, which elimination with
/// back substitution solves.
///
/// Error: |b - A x| <= 8 n u |L| |U| |U^-1| |U| |x| to first order in the unit roundoff u (Higham, "Accuracy
/// and Stability of Numerical Algorithms", 2nd ed., theorem 14.5).

#include <algorithm>
#include <cstdint>

#include "kernels/gemm/fma_loops.hpp"
#include "kernels/gesv/pivot_search.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::host {

template <class T>
void gesv_gauss_jordan_serial(Context& context, Operands<T>& op, const Parameters&) {
  const std::int64_t n = op.shape.n;
  const std::int64_t columns = op.a.cols;
  const std::int64_t ld = op.a.ld;
  const FmaLoops<T> loops = fma_loops<T>();
  context.stage("eliminate");
  for (std::int64_t k = 0; k < n; ++k) {
    T* pivot_row = op.a.data + k * ld;
    const std::int64_t pivot_offset = find_pivot(pivot_row + k, ld, n - k);
    if (pivot_offset > 0)
      std::swap_ranges(pivot_row + k, pivot_row + columns, pivot_row + pivot_offset * ld + k);
    const T pivot = pivot_row[k];
    if (pivot == T(0)) {
      *op.info = static_cast<int>(k + 1);
      return;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      if (i == k) continue;
      T* row = op.a.data + i * ld;
      loops.subtract_multiple(row + k + 1, pivot_row + k + 1, row[k] / pivot, columns - k - 1);
    }
  }
  context.stage("normalise");
  for (std::int64_t i = 0; i < n; ++i) {
    T* row = op.a.data + i * ld;
    for (std::int64_t r = n; r < columns; ++r) row[r] /= row[i];
  }
}

GAUSSWEEP_INSTANTIATE(gesv_gauss_jordan_serial)

}  // namespace gaussweep::host
