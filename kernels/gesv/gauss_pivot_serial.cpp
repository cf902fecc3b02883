/// gesv/gauss_pivot_serial: Gaussian elimination with partial pivoting and back substitution on one CPU core.
///
/// X. Xia and J. C. Lee, "Modified CUDA Gaussian Elimination", the "traditional" serial solver. In every
/// column the row with the largest element on or below the diagonal becomes the pivot row. A multiple of the
/// pivot row is subtracted from the rows below, only right of that column. Back substitution then runs from
/// the last row to the first and divides by the diagonal.
///
/// Layout: [A | B] row-major, overwritten; X is a separate column-major matrix. Cost: n^3 / 3 multiply-adds,
/// two thirds of gesv/gauss_jordan_serial's. Workspace: none. A must be nonsingular: a column without a
/// nonzero pivot gives info > 0 and ends the method.
///
/// Error: |b - A x| is of the order n u |L| |U| |x| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.4). With partial pivoting the norm of |L| |U| rarely exceeds n
/// times that of A.

#include <algorithm>
#include <cstdint>

#include "kernels/gemm/fma_loops.hpp"
#include "kernels/gesv/pivot_search.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::host {

template <class T>
void gesv_gauss_pivot_serial(Context& context, Operands<T>& op, const Parameters&) {
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
    for (std::int64_t i = k + 1; i < n; ++i) {
      T* row = op.a.data + i * ld;
      loops.subtract_multiple(row + k + 1, pivot_row + k + 1, row[k] / pivot, columns - k - 1);
    }
  }
  context.stage("back_substitute");
  for (std::int64_t r = 0; r < op.shape.nrhs; ++r) {
    T* solution = op.x.data + r * op.x.ld;
    for (std::int64_t i = n - 1; i >= 0; --i) {
      const T* row = op.a.data + i * ld;
      const T remainder = loops.subtract_products(row[n + r], row + i + 1, solution + i + 1, n - 1 - i);
      solution[i] = remainder / row[i];
    }
  }
}

GAUSSWEEP_INSTANTIATE(gesv_gauss_pivot_serial)

}  // namespace gaussweep::host
