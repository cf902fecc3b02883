/// getrf/lapack: LU with partial pivoting on the CPU, LAPACK's xGETRF as OpenBLAS implements it, on all cores
/// that the process may use.
///
/// Layout: column-major; L (unit diagonal) and U take the place of A. Cost: 2/3 n^3 operations. Workspace:
/// OpenBLAS's own. Takes any matrix: a pivot that is exactly 0 gives info > 0, and the factors are then still
/// those of A.

#include "kernels/core/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/blas.hpp"

namespace gaussweep::host {

template <class T>
void getrf_lapack(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("getrf");
  *op.info = vendor::getrf(op.shape.n, op.shape.n, op.a.data, op.a.ld, op.pivots);
  for (std::int64_t i = 0; i < op.shape.n; ++i) op.pivots[i] -= 1;  // LAPACK counts from 1
}

GAUSSWEEP_INSTANTIATE(getrf_lapack)

}  // namespace gaussweep::host
