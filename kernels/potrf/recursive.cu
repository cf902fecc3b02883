/// potrf/recursive: Cholesky factorisation, recursive in block columns. A block column is factored in one
/// launch whose thread blocks wait for each other's tiles.
///
/// The launches are in tile_chain.cuh, the recursion in recursive_cholesky.cuh; cuBLAS computes the updates
/// between launches. Layout: column-major; the factor replaces the triangle `uplo` of A, and the other
/// triangle is neither written nor used. Cost: 1/3 n^3 operations. Workspace: one 32-bit flag per tile of 64
/// x 64, and mailboxes (72 n elements), through which thread blocks send each other factored diagonal tiles.
/// A copy of the matrix is added if the upper triangle is stored or n is no multiple of 64. Needs a symmetric
/// positive definite matrix: a pivot that is not positive, denormal or NaN gives LAPACK's info > 0. If a
/// thread block's wait for a tile times out, info is -1, and the result is no factor. Needs compute
/// capability 9.0.
///
/// Error: |A - L L^T| is of the order n u |L| |L^T| (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., theorem 10.3).

#include "kernels/potrf/recursive_cholesky.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void potrf_recursive(Context& context, Operands<T>& op, const Parameters&) {
  tiles::RecursiveCholesky<T>(context, op.shape, op.a.data, op.a.ld, op.info, op.workspace).factor();
}

GAUSSWEEP_INSTANTIATE(potrf_recursive)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
