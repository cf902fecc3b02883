/// poinv/cusolver: the inverse of a symmetric positive definite matrix on the GPU, by cuSOLVER's xpotrf and
/// xpotri; then a kernel fills the other triangle.
///
/// Layout: column-major; the lower triangle of A is read, and the inverse overwrites A. Cost: n^3 operations.
/// Workspace: cuSOLVER's buffer. VendorHandles (the cuBLAS and cuSOLVER handles of a Context) allocates it in
/// the first run of a size (the warm-up) and caches it. A pivot that is not positive gives info > 0, and the
/// answer is then meaningless.
///
/// Error: NVIDIA documents no bound. The algorithm has this one: |A X - I| is of the order n u |L| |L^T| |X|
/// (u: unit roundoff; Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 14.3).

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
