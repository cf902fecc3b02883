/// posv/cusolver: Cholesky on the GPU, cuSOLVER's xpotrf and xpotrs. Batches use xpotrfBatched, and
/// xpotrsBatched for one right-hand side or cuBLAS's xtrsmBatched for several.
///
/// Layout: column-major; the answer replaces b. Cost: 1/3 n^3 + 2 n^2 nrhs operations. Workspace: xpotrf's
/// buffer. VendorHandles (the cuBLAS and cuSOLVER handles of a Context) allocates it in the first run of a
/// size (the warm-up) and caches it. Needs a symmetric positive definite matrix, whose triangle `uplo` is
/// read: a pivot that is not positive gives info > 0, and the answer is then undefined.
///
/// Error: NVIDIA documents no bound. The algorithm has this one: (A + E) x = b with |E| of the order n u |L|
/// |L^T| (u: unit roundoff; Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 10.4).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_batches.hpp"
#include "kernels/vendor/cuda_blas.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::cuda {

template <class T>
void posv_cusolver(Context& context, Operands<T>& op, const Parameters&) {
  VendorHandles& handles = vendor_handles(context);
  const auto [m, n, k, nrhs, uplo, batch] = op.shape;
  context.stage("potrf");
  if (batch > 1) {
    auto** const a = op.workspace.template take<T*>(batch);
    auto** const b = op.workspace.template take<T*>(batch);
    set_pointers(context, a, op.a.data, n * op.a.ld, batch);
    vendor::potrf_batch(handles, uplo, n, a, op.a.ld, op.info, batch);
    context.stage("potrs");
    set_pointers(context, b, op.b.data, nrhs * op.b.ld, batch);
    if (nrhs == 1) return vendor::potrs_batch(handles, uplo, n, a, op.a.ld, b, op.b.ld, batch);
    for (const bool is_first : {true, false}) {  // solves with L, then with L^T; or with U^T, then with U
      const vendor::Op transposition =
          is_first == (uplo == Uplo::lower) ? vendor::Op::none : vendor::Op::transpose;
      vendor::trsm_batch(handles, uplo, transposition, n, nrhs, a, op.a.ld, b, op.b.ld, batch);
    }
    return;
  }
  vendor::potrf(handles, uplo, n, op.a.data, op.a.ld, op.info);
  context.stage("potrs");
  vendor::potrs(handles, uplo, n, nrhs, op.a.data, op.a.ld, op.b.data, op.b.ld);
}

GAUSSWEEP_INSTANTIATE(posv_cusolver)

}  // namespace gaussweep::cuda
