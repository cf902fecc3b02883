/// posv/lapack: Cholesky on the CPU, LAPACK's xPOTRF and xPOTRS of OpenBLAS, on all cores that the process
/// may use.
///
/// Layout: column-major; the answer replaces b. Cost: 1/3 n^3 + 2 n^2 nrhs operations. Workspace: OpenBLAS's
/// own. Needs a symmetric positive definite matrix, whose triangle `uplo` is read: a pivot that is not
/// positive gives info > 0 and leaves b unchanged.
///
/// Error: (A + E) x = b with |E| of the order n u |L| |L^T| (u: unit roundoff; Higham, "Accuracy and
/// Stability of Numerical Algorithms", 2nd ed., theorem 10.4).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/systems.hpp"

namespace gaussweep::host {

template <class T>
void posv_lapack(Context& context, Operands<T>& op, const Parameters&) {
  const auto [m, n, k, nrhs, uplo, batch] = op.shape;
  context.stage("potrf");
  vendor::for_systems(op, [uplo = uplo, n = n](Operands<T>& system) {
    *system.info = vendor::potrf(uplo, n, system.a.data, system.a.ld);
  });
  context.stage("potrs");
  vendor::for_systems(op, [uplo = uplo, n = n, nrhs = nrhs](Operands<T>& system) {
    if (*system.info == 0)
      vendor::potrs(uplo, n, nrhs, system.a.data, system.a.ld, system.b.data, system.b.ld);
  });
}

GAUSSWEEP_INSTANTIATE(posv_lapack)

}  // namespace gaussweep::host
