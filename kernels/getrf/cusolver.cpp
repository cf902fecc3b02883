/// getrf/cusolver: LU with partial pivoting on the GPU, cuSOLVER's xgetrf.
///
/// Layout: column-major; L (unit diagonal) and U overwrite A. Cost: 2/3 n^3 operations. Workspace: xgetrf's
/// buffer, owned by VendorHandles (the cuBLAS and cuSOLVER handles of a Context). The method's declared
/// workspace excludes it, because only cuSOLVER on a GPU can report its size. The first run of a size (the
/// warm-up) allocates it. Accepts any matrix: a zero pivot gives info > 0.
///
/// Error: NVIDIA documents no bound. The algorithm has this one: |P A - L U| is of the order n u |L| |U| (u:
/// unit roundoff; Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 9.3). With
/// partial pivoting the norm of |L| |U| rarely exceeds n times that of A.

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_blas.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::cuda {

template <class T>
void getrf_cusolver(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("getrf");
  vendor::getrf(vendor_handles(context), op.shape.n, op.shape.n, op.a.data, op.a.ld, op.pivots, op.info);
  context.stage("pivots");
  make_pivots_zero_based(context, op.pivots, op.shape.n);
}

GAUSSWEEP_INSTANTIATE(getrf_cusolver)

}  // namespace gaussweep::cuda
