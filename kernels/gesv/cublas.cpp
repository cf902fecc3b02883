/// gesv/cublas: many small systems on the GPU, cuBLAS's xgetrfBatched and xgetrsBatched.
///
/// Layout: column-major, systems contiguous; the answer replaces b. Cost: 2/3 n^3 + 2 n^2 nrhs operations
/// per system. Workspace: pointers to all matrices, written during the run, and n pivots per system. A zero
/// pivot gives info > 0, and the answer is then not finite.
///
/// Error: NVIDIA documents no bound. The algorithm has this one: |b - A x| is of the order n u |L| |U| |x|
/// (u: unit roundoff; Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 9.4). With
/// partial pivoting the norm of |L| |U| rarely exceeds n times that of A.

#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_batches.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::cuda {

template <class T>
void gesv_cublas(Context& context, Operands<T>& op, const Parameters&) {
  VendorHandles& handles = vendor_handles(context);
  const auto [m, n, k, nrhs, uplo, batch] = op.shape;
  auto** const a = op.workspace.template take<T*>(batch);
  auto** const b = op.workspace.template take<T*>(batch);
  int* const pivots = op.workspace.template take<int>(n * batch);
  context.stage("getrf");
  set_pointers(context, a, op.a.data, n * op.a.ld, batch);
  vendor::getrf_batch(handles, n, a, op.a.ld, pivots, op.info, batch);
  context.stage("getrs");
  set_pointers(context, b, op.b.data, nrhs * op.b.ld, batch);
  vendor::getrs_batch(handles, n, nrhs, a, op.a.ld, pivots, b, op.b.ld, batch);
}

GAUSSWEEP_INSTANTIATE(gesv_cublas)

}  // namespace gaussweep::cuda
