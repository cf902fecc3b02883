/// getrf/crout_serial: Crout's factorisation A = L U on one CPU core, with a unit diagonal in U.
///
/// L. Čejka, ČVUT 2022, section 1.3.1 (listing 1.12): for every j, computes column j of L and then row j of U
/// from the finished columns and rows. No pivoting.
///
/// Layout: column-major; L and U overwrite A, and U's unit diagonal is not stored. Cost: 2/3 n^3 operations.
/// Workspace: n elements. A must be strongly regular: a zero leading minor gives info > 0, and a small one
/// gives inaccurate factors.
///
/// Error: |A - L U| is of the order n u |L| |U| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.3). Without row exchanges |L| |U| may be far larger than |A|.

#include "kernels/getrf/crout_steps.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::host {

template <class T>
void getrf_crout_serial(Context& context, Operands<T>& op, const Parameters&) {
  T* row_copy = op.workspace.template take<T>(op.shape.n);
  context.stage("factorise");
  *op.info = static_cast<int>(crout_factorise(op.a, row_copy));
}

GAUSSWEEP_INSTANTIATE(getrf_crout_serial)

}  // namespace gaussweep::host
