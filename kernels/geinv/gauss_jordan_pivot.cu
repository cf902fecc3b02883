/// geinv/gauss_jordan_pivot: the inverse by Gauss-Jordan elimination with partial pivoting.
///
/// Like geinv/gauss_jordan, after J. Soriano, IIT 2011, section 5.2.1 (gauss_jordan_steps.cuh), but the host
/// selects the largest element, so that rows are exchanged in nearly every iteration.
///
/// Layout: column-major; A is overwritten, the inverse is a separate matrix. Cost: 2 n^3 operations, up to 3
/// n^3 elements moved, and one synchronous transfer to the host per column. Workspace: none. Needs a
/// nonsingular matrix: a column without a nonzero pivot gives info > 0. The residual A X - I grows with the
/// condition number of the matrix, even with these pivots.
///
/// Error: each column x of X has a residual |e - A x| <= 8 n u |L| |U| |U^-1| |U| |x| to first order in u
/// (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 14.5).

#include "kernels/geinv/gauss_jordan_steps.cuh"
#include "kernels/gesv/pivot_search.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void geinv_gauss_jordan_pivot(Context& context, Operands<T>& op, const Parameters& parameters) {
  const auto largest = [](const T* column, std::int64_t count) { return find_pivot(column, 1, count); };
  inversion::gauss_jordan(context, op, parameters, largest);
}

GAUSSWEEP_INSTANTIATE(geinv_gauss_jordan_pivot)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
