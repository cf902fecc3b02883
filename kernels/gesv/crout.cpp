/// gesv/crout: Crout's factorisation and two substitutions on one CPU core.
///
/// L. Čejka, ČVUT 2022, sections 1.3 and 1.3.1: factors A = L U once, without pivoting, with a unit diagonal
/// in U; then solves L y = b and U x = y for every right-hand side.
///
/// Layout: column-major; the answer replaces b. Cost: 2/3 n^3 + 2 n^2 nrhs operations. Workspace: n elements.
/// A must be strongly regular: a zero leading minor gives info > 0 and leaves b unchanged. The systems of a
/// batch are solved one after the other.
///
/// Error: |b - A x| is of the order n u |L| |U| |x| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.4). Without row exchanges |L| |U| may be far larger than |A|.

#include "kernels/getrf/crout_steps.hpp"
#include "kernels/registry/batch.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::host {

template <class T>
void gesv_crout(Context& context, Operands<T>& op, const Parameters&) {
  T* row_copy = op.workspace.template take<T>(op.shape.n);
  context.stage("factorise");
  for (std::int64_t s = 0; s < op.shape.batch; ++s) {
    const Operands<T> system = system_of(op, s);
    *system.info = static_cast<int>(crout_factorise(system.a, row_copy));
  }
  context.stage("substitute");
  for (std::int64_t s = 0; s < op.shape.batch; ++s) {
    const Operands<T> system = system_of(op, s);
    if (*system.info == 0) crout_substitute(system.a, system.b);
  }
}

GAUSSWEEP_INSTANTIATE(gesv_crout)

}  // namespace gaussweep::host
