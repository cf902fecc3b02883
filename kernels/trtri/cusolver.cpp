/// trtri/cusolver: the inverse of a triangular matrix on the GPU, cuSOLVER's Xtrtri (CUDA 11.4 and later).
///
/// Layout: column-major; the inverse takes the place of the triangle `uplo` of A. Cost: 1/3 n^3 operations.
/// Workspace: what Xtrtri asks for is kept with the handles (VendorHandles): the first run of a size
/// allocates it, which the warm-up does. A 0 on the diagonal gives info > 0, and the answer is then not the
/// inverse: a small kernel reads the diagonal first (stage "diagonal"), so that what is reported does not
/// depend on the library's version.

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_blas.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::cuda {

template <class T>
void trtri_cusolver(Context& context, Operands<T>& op, const Parameters&) {
  VendorHandles& handles = vendor_handles(context);
  context.stage("diagonal");
  find_zero_diagonal(context, op.a, op.info);
  context.stage("trtri");
  vendor::trtri(handles, op.shape.uplo, vendor::Diagonal::stored, op.shape.n, op.a.data, op.a.ld,
                handles.spare_info());
}

GAUSSWEEP_INSTANTIATE(trtri_cusolver)

}  // namespace gaussweep::cuda
