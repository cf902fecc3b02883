/// getrf/fixed_point: LU decomposition by fixed-point iteration, with a unit diagonal in U.
///
/// L. Čejka, ČVUT 2022, section 1.3.2: each iteration recomputes all elements of L and U from the last
/// iterate, one thread per element (fixed_point_steps.cuh). The iteration ends when no element changes by
/// more than a tolerance. The update is double-buffered as in the thesis's formulas, or in place, where
/// threads may read elements that other threads have just written.
///
/// Layout: column-major; A is only read, L and U are a separate matrix. Cost: 2/3 n^3 operations per
/// iteration; about 20 iterations for diagonally dominant A, 2 n at worst. Workspace: a second iterate if
/// double-buffered. A must be strongly regular (no leading minor is 0). If a pivot is 0 after the last
/// iteration, info > 0, and the convergence in Context::report is `diverged` or `max_iterations`. If only the
/// last pivot is 0, the iteration may converge, because no element is divided by the last pivot.
///
/// Error: |A - L U| is of the order n u |L| |U| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.3), if the iteration ends because no element changes
/// (`change_tolerance: 0`): the factors then have the bits of Crout's method. A change_tolerance t > 0
/// changes each element of L U by up to n t (max|L| + max|U| + t). Without row exchanges |L| |U| may be far
/// larger than |A|.

#include "kernels/getrf/fixed_point_steps.cuh"
#include "kernels/tables.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void getrf_fixed_point(Context& context, Operands<T>& op, const Parameters& parameters) {
  fixed_point_factorise(context, op, parameters, op.x);
  context.stage("diagonal");
  find_zero_diagonal(context, op.x, op.info);
}

GAUSSWEEP_INSTANTIATE(getrf_fixed_point)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
