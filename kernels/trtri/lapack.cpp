/// trtri/lapack: the inverse of a triangular matrix on the CPU, by OpenBLAS's implementation of LAPACK's
/// xTRTRI, on all cores available to the process.
///
/// Layout: column-major; the inverse overwrites the triangle `uplo` of A; the other triangle is neither read
/// nor written. Cost: 1/3 n^3 operations. Workspace: OpenBLAS's own. A 0 on the diagonal gives info > 0, and
/// A is not changed.
///
/// Error: one residual, A X - I or X A - I, is of the order n u |X| |A|. The order of the loops determines
/// which one (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 14.2).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/blas.hpp"

namespace gaussweep::host {

template <class T>
void trtri_lapack(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("trtri");
  *op.info = vendor::trtri(op.shape.uplo, vendor::Diagonal::stored, op.shape.n, op.a.data, op.a.ld);
}

GAUSSWEEP_INSTANTIATE(trtri_lapack)

}  // namespace gaussweep::host
