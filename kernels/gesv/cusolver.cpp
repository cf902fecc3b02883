/// gesv/cusolver: LU with partial pivoting on the GPU, cuSOLVER's xgetrf and xgetrs.
///
/// Layout: column-major; the answer replaces b. Cost: 2/3 n^3 + 2 n^2 nrhs operations. Workspace: n pivots
/// and xgetrf's buffer, both owned by VendorHandles (the cuBLAS and cuSOLVER handles of a Context). The
/// method's declared workspace excludes them, because only cuSOLVER on a GPU can report the buffer's size.
/// The first run of a size (the warm-up) allocates them. A must be nonsingular: a zero pivot gives info > 0,
/// and the answer is then not finite.
///
/// Error: NVIDIA documents no bound. The algorithm has this one: |b - A x| is of the order n u |L| |U| |x|
/// (u: unit roundoff; Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 9.4). With
/// partial pivoting the norm of |L| |U| rarely exceeds n times that of A.

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_blas.hpp"

namespace gaussweep::cuda {

template <class T>
void gesv_cusolver(Context& context, Operands<T>& op, const Parameters&) {
  VendorHandles& handles = vendor_handles(context);
  const std::int64_t n = op.shape.n;
  int* pivots = handles.pivots(n);
  context.stage("getrf");
  vendor::getrf(handles, n, n, op.a.data, op.a.ld, pivots, op.info);
  context.stage("getrs");
  vendor::getrs(handles, vendor::Op::none, n, op.shape.nrhs, op.a.data, op.a.ld, pivots, op.b.data, op.b.ld);
}

GAUSSWEEP_INSTANTIATE(gesv_cusolver)

}  // namespace gaussweep::cuda
