/// posv/recursive: potrf/recursive, then both triangular solves in one launch.
///
/// Factors with potrf/recursive_cholesky.cuh and solves with trsv/block_chain.cu. The solve reads L^T from
/// the other triangle; the factorisation therefore also stores L^T there. Layout: column-major; the answer
/// replaces b, and both triangles of A are overwritten. Cost: 1/3 n^3 + 2 n^2 nrhs operations. Workspace:
/// that of the factorisation and of the solve. Needs a symmetric positive definite matrix: a pivot that is
/// not positive gives info > 0, and the answer is then undefined; info is -1 if a wait between blocks timed
/// out. Needs compute capability 9.0.
///
/// Error: |b - A x| is of the order n u |L| |L^T| |x| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 10.4).

#include "kernels/posv/direct.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void posv_recursive(Context& context, Operands<T>& op, const Parameters&) {
  solve_directly(context, op, /*first_rhs=*/0, op.workspace);
}

GAUSSWEEP_INSTANTIATE(posv_recursive)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
