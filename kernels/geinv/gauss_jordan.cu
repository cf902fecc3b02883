/// geinv/gauss_jordan and geinv/gauss_jordan_pivot: the inverse by Gauss-Jordan elimination. The first method
/// exchanges rows only if the pivot is 0; the second one uses partial pivoting.
///
/// Source: J. Soriano, IIT 2011, section 5.2.1, tables 5.2 to 5.4. The steps are in gauss_jordan_steps.cuh.
/// In geinv/gauss_jordan, if the pivot is exactly 0, the host selects the first nonzero element below it. In
/// geinv/gauss_jordan_pivot the host selects the largest element, so that rows are exchanged in nearly every
/// iteration.
///
/// Layout: column-major; A is overwritten, the inverse is a separate matrix. Cost: 2 n^3 operations, 2 n^3
/// elements moved (with partial pivoting up to 3 n^3), and one synchronous transfer to the host per column.
/// Workspace: none. Needs a nonsingular matrix: a column without a pivot gives info > 0. geinv/gauss_jordan
/// is accurate only if no pivot is small compared with the elements below it, e.g. for positive definite or
/// diagonally dominant matrices. The residual A X - I grows with the condition number of the matrix, even
/// with partial pivoting.
///
/// Error: each column x of X has a residual |e - A x| <= 8 n u |L| |U| |U^-1| |U| |x| to first order in the
/// unit roundoff u (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 14.5). Without
/// pivoting |L| |U| may be far larger than |A|.

#include "kernels/geinv/gauss_jordan_steps.cuh"
#include "kernels/gesv/pivot_search.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void geinv_gauss_jordan(Context& context, Operands<T>& op, const Parameters& parameters) {
  const auto first_nonzero = [](const T* column, std::int64_t count) {
    std::int64_t i = 0;
    while (i + 1 < count && column[i] == T(0)) ++i;
    return i;
  };
  inversion::gauss_jordan(context, op, parameters, first_nonzero);
}
template <class T>
void geinv_gauss_jordan_pivot(Context& context, Operands<T>& op, const Parameters& parameters) {
  const auto largest = [](const T* column, std::int64_t count) {
    return find_pivot(column, /*stride=*/1, count);
  };
  inversion::gauss_jordan(context, op, parameters, largest);
}

GAUSSWEEP_INSTANTIATE(geinv_gauss_jordan)
GAUSSWEEP_INSTANTIATE(geinv_gauss_jordan_pivot)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
