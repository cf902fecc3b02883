/// getrf/cublas: LU of many small matrices on the GPU, cuBLAS's xgetrfBatched.
///
/// Layout: column-major, matrices contiguous; L (unit diagonal) and U overwrite A. Cost: 2/3 n^3 operations
/// per matrix. Workspace: pointers to all matrices, written during the run. Accepts any matrix: a zero pivot
/// gives info > 0.
///
/// Error: NVIDIA documents no bound. The algorithm has this one: |P A - L U| is of the order n u |L| |U| (u:
/// unit roundoff; Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 9.3). With
/// partial pivoting the norm of |L| |U| rarely exceeds n times that of A.

#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_batches.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::cuda {

template <class T>
void getrf_cublas(Context& context, Operands<T>& op, const Parameters&) {
  const std::int64_t n = op.shape.n, batch = op.shape.batch;
  auto** const a = op.workspace.template take<T*>(batch);
  context.stage("getrf");
  set_pointers(context, a, op.a.data, n * op.a.ld, batch);
  vendor::getrf_batch(vendor_handles(context), n, a, op.a.ld, op.pivots, op.info, batch);
  make_pivots_zero_based(context, op.pivots, n * batch);
}

GAUSSWEEP_INSTANTIATE(getrf_cublas)

}  // namespace gaussweep::cuda
