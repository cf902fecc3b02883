/// posv/lapack: Cholesky on the CPU, LAPACK's xPOTRF and xPOTRS as OpenBLAS implements them, on all cores
/// that the process may use.
///
/// Layout: column-major; the answer replaces b. Cost: 1/3 n^3 + 2 n^2 nrhs operations. Workspace: OpenBLAS's
/// own. Needs a symmetric positive definite matrix, of which the triangle `uplo` is read: a pivot that is not
/// positive gives info > 0, and b is left as it was.

#include "kernels/core/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/blas.hpp"

namespace gaussweep::host {

template <class T>
void posv_lapack(Context& context, Operands<T>& op, const Parameters&) {
  const auto [m, n, k, nrhs, uplo] = op.shape;
  context.stage("potrf");
  *op.info = vendor::potrf(uplo, n, op.a.data, op.a.ld);
  if (*op.info != 0) return;
  context.stage("potrs");
  vendor::potrs(uplo, n, nrhs, op.a.data, op.a.ld, op.b.data, op.b.ld);
}

GAUSSWEEP_INSTANTIATE(posv_lapack)

}  // namespace gaussweep::host
