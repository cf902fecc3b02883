/// gesv/crout: Crout's factorisation and two substitutions on one CPU core.
///
/// L. Čejka, ČVUT 2022, sections 1.3 and 1.3.1: A = L U once, without pivoting, U with the unit diagonal;
/// then L y = b and U x = y for every right-hand side.
///
/// Layout: column-major; the answer replaces b. Cost: 2/3 n^3 + 2 n^2 nrhs operations. Workspace: n elements.
/// Needs a strongly regular matrix: a leading minor that is 0 gives info > 0, and b is left as it was.

#include "kernels/getrf/crout_steps.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::host {

template <class T>
void gesv_crout(Context& context, Operands<T>& op, const Parameters&) {
  T* row_copy = op.workspace.template take<T>(op.shape.n);
  context.stage("factorise");
  *op.info = static_cast<int>(crout_factorise(op.a, row_copy));
  if (*op.info != 0) return;
  context.stage("substitute");
  crout_substitute(op.a, op.b);
}

GAUSSWEEP_INSTANTIATE(gesv_crout)

}  // namespace gaussweep::host
