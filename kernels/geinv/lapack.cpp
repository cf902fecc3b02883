/// geinv/lapack: the inverse on the CPU, LAPACK's xGETRF and xGETRI as OpenBLAS implements them, on all cores
/// that the process may use.
///
/// Layout: column-major; the inverse takes the place of A. Cost: 2 n^3 operations. Workspace: n pivots, and
/// 64 n elements so that xGETRI works by blocks. Needs a nonsingular matrix: a pivot that is exactly 0 gives
/// info > 0, and A then holds the factors.

#include "kernels/geinv/lapack_workspace.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/blas.hpp"

namespace gaussweep::host {

template <class T>
void geinv_lapack(Context& context, Operands<T>& op, const Parameters&) {
  const std::int64_t n = op.shape.n;
  int* pivots = op.workspace.template take<int>(n);
  T* work = op.workspace.template take<T>(n * getri_block);
  context.stage("getrf");
  *op.info = vendor::getrf(n, n, op.a.data, op.a.ld, pivots);
  if (*op.info != 0) return;
  context.stage("getri");
  *op.info = vendor::getri(n, op.a.data, op.a.ld, pivots, work, n * getri_block);
}

GAUSSWEEP_INSTANTIATE(geinv_lapack)

}  // namespace gaussweep::host
