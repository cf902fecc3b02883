/// geinv/cublas: inverses of many small matrices on the GPU, cuBLAS's xgetrfBatched and xgetriBatched, or, up
/// to order 32, xmatinvBatched.
///
/// Layout: column-major, matrices side by side; the inverses are stored separately from A. Cost: 2 n^3
/// operations per matrix. Workspace per matrix: two pointers (written during the run), n pivots and an int
/// for info. A pivot that is exactly 0 gives info > 0, and the answer is then undefined.
///
/// Error: NVIDIA documents no bound. For solves with the factors and the identity as right-hand sides: |A X -
/// I| is of the order n u |L| |U| |X| (u: unit roundoff; Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., section 14.3).

#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_batches.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::cuda {

template <class T>
void geinv_cublas(Context& context, Operands<T>& op, const Parameters& parameters) {
  VendorHandles& handles = vendor_handles(context);
  const std::int64_t n = op.shape.n, batch = op.shape.batch;
  auto** const a = op.workspace.template take<T*>(batch);
  auto** const x = op.workspace.template take<T*>(batch);
  int* const pivots = op.workspace.template take<int>(n * batch);
  int* const infos = op.workspace.template take<int>(batch);  // getri's infos, which repeat getrf's
  set_pointers(context, a, op.a.data, n * op.a.ld, batch);
  set_pointers(context, x, op.x.data, n * op.x.ld, batch);
  if (parameters.choice("routine") == "matinv") {
    context.stage("matinv");
    return vendor::matinv_batch(handles, n, a, op.a.ld, x, op.x.ld, op.info, batch);
  }
  context.stage("getrf");
  vendor::getrf_batch(handles, n, a, op.a.ld, pivots, op.info, batch);
  context.stage("getri");
  vendor::getri_batch(handles, n, a, op.a.ld, pivots, x, op.x.ld, infos, batch);
}

GAUSSWEEP_INSTANTIATE(geinv_cublas)

}  // namespace gaussweep::cuda
