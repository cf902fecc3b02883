/// poinv/cusolver: the inverse of a symmetric positive definite matrix on the GPU, cuSOLVER's xpotrf and
/// xpotri; then the other triangle is filled.
///
/// Layout: column-major; the inverse takes the place of A, of which the lower triangle is read. Cost: n^3
/// operations. Workspace: what cuSOLVER asks for is kept with the handles (VendorHandles): the first run of a
/// size allocates it, which the warm-up does. A pivot that is not positive gives info > 0, and the answer is
/// then of no use.

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_blas.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::cuda {

template <class T>
void poinv_cusolver(Context& context, Operands<T>& op, const Parameters&) {
  VendorHandles& handles = vendor_handles(context);
  const std::int64_t n = op.shape.n;
  context.stage("potrf");
  vendor::potrf(handles, Uplo::lower, n, op.a.data, op.a.ld, op.info);
  context.stage("potri");
  vendor::potri(handles, Uplo::lower, n, op.a.data, op.a.ld);
  context.stage("mirror");
  mirror_triangle(context, Uplo::lower, op.a, op.a);
}

GAUSSWEEP_INSTANTIATE(poinv_cusolver)

}  // namespace gaussweep::cuda
