/// potrf/cusolver: Cholesky factorisation on the GPU, cuSOLVER's xpotrf.
///
/// Layout: column-major; the factor replaces the triangle `uplo` of A. Cost: 1/3 n^3 operations. Workspace:
/// xpotrf's buffer. The buffer's size is known only on a GPU, from cuSOLVER. VendorHandles therefore
/// allocates the buffer in the first run of a matrix size (the warm-up) and caches it. Needs a symmetric
/// positive definite matrix: a pivot that is not positive gives info > 0.
///
/// Error: NVIDIA documents no bound. The algorithm has this one: |A - L L^T| <= g |L| |L^T| with g = (n + 1)
/// u / (1 - (n + 1) u) (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 10.3).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_batches.hpp"
#include "kernels/vendor/cuda_blas.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::cuda {

template <class T>
void potrf_cusolver(Context& context, Operands<T>& op, const Parameters&) {
  VendorHandles& handles = vendor_handles(context);
  const std::int64_t n = op.shape.n, batch = op.shape.batch;
  context.stage("potrf");
  if (batch == 1) return vendor::potrf(handles, op.shape.uplo, n, op.a.data, op.a.ld, op.info);
  auto** const a = op.workspace.template take<T*>(batch);
  set_pointers(context, a, op.a.data, n * op.a.ld, batch);
  vendor::potrf_batch(handles, op.shape.uplo, n, a, op.a.ld, op.info, batch);
}

GAUSSWEEP_INSTANTIATE(potrf_cusolver)

}  // namespace gaussweep::cuda
