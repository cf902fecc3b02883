/// gesv/cusolver: LU with partial pivoting on the GPU, cuSOLVER's xgetrf and xgetrs.
///
/// Layout: column-major; the answer replaces b. Cost: 2/3 n^3 + 2 n^2 nrhs operations. Workspace: n pivots
/// and what xgetrf asks for; only cuSOLVER itself, on a GPU, can say how much that is, so it is not announced
/// in the row but kept with the handles (VendorHandles): the first run of a size allocates it, which the
/// warm-up does. Needs a nonsingular matrix: a pivot that is exactly 0 gives info > 0, and the answer is then
/// not finite.

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
