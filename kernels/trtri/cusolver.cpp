/// trtri/cusolver: the inverse of a triangular matrix on the GPU, cuSOLVER's Xtrtri (CUDA 11.4 and later).
///
/// Layout: column-major; the inverse overwrites the triangle `uplo` of A. Cost: 1/3 n^3 operations.
/// Workspace: Xtrtri's buffer. VendorHandles allocates it in the first run of a matrix size (the warm-up) and
/// caches it. A 0 on the diagonal gives info > 0, and the answer is then not the inverse. A small kernel
/// reads the diagonal first (stage "diagonal"), so that info does not depend on the library's version.
///
/// Error: NVIDIA documents no bound. The algorithm has this one: one residual, A X - I or X A - I, is of the
/// order n u |X| |A|. The order of the loops determines which one (Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., section 14.2).

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
