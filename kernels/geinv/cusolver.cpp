/// geinv/cusolver: the inverse on the GPU, cuSOLVER's xgetrf, then xgetrs with the identity as right-hand
/// sides (cuSOLVER has no xgetri).
///
/// Layout: column-major; the inverse is a separate matrix. Cost: 8/3 n^3 operations. Workspace: n pivots and
/// the buffer of xgetrf. VendorHandles (the cuBLAS and cuSOLVER handles of a Context) allocates them in the
/// first run of a matrix size (the warm-up) and caches them. Needs a nonsingular matrix: a pivot that is
/// exactly 0 gives info > 0, and the answer is then not finite.
///
/// Error: NVIDIA documents no bound. For an inverse by solves with L, U and the identity, |A X - I| is of the
/// order n u |L| |U| |X| (u: unit roundoff; Higham, "Accuracy and Stability of Numerical Algorithms", 2nd
/// ed., section 14.3).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_blas.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::cuda {

template <class T>
void geinv_cusolver(Context& context, Operands<T>& op, const Parameters&) {
  VendorHandles& handles = vendor_handles(context);
  const std::int64_t n = op.shape.n;
  int* pivots = handles.pivots(n);
  context.stage("identity");
  set_identity(context, op.x);
  context.stage("getrf");
  vendor::getrf(handles, n, n, op.a.data, op.a.ld, pivots, op.info);
  context.stage("getrs");
  vendor::getrs(handles, vendor::Op::none, n, n, op.a.data, op.a.ld, pivots, op.x.data, op.x.ld);
}

GAUSSWEEP_INSTANTIATE(geinv_cusolver)

}  // namespace gaussweep::cuda
