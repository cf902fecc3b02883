/// getrf/fixed_point: LU decomposition by fixed-point iteration, U with the unit diagonal.
///
/// L. Čejka, ČVUT 2022, section 1.3.2: every element of L and U is computed at once from the last iterate, a
/// thread an element, until none changes by more than a tolerance (fixed_point_steps.cuh). Double-buffered as
/// the formulas say, or in place, where a thread may meet what others have just written.
///
/// Layout: column-major; A stays, L and U lie in a matrix of their own. Cost: 2/3 n^3 operations an
/// iteration; some twenty iterations where the diagonal dominates, 2 n at worst. Workspace: a second iterate
/// where it is double-buffered. Needs a strongly regular matrix: a pivot that ends as 0 gives info > 0, and
/// the iteration then ends as diverged or at max_iterations (not where it is the last one, which divides
/// nothing).

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
