/// potrf/recursive: Cholesky, recursive in block columns; a block column is one launch whose blocks wait for
/// each other's tiles.
///
/// The launches are tile_chain.cuh's, the recursion recursive_cholesky.cuh's, the products beside the
/// diagonal cuBLAS's. Layout: column-major; the factor takes the place of the triangle `uplo` of A, the other
/// one is neither written nor used. Cost: 1/3 n^3 operations. Workspace: a word a tile of 64 x 64, what is
/// handed on of those on the diagonal (72 n elements), and, for the upper triangle or n that is no multiple
/// of 64, a copy of the matrix. Needs a symmetric positive definite matrix: a pivot that is not positive,
/// denormal or NaN gives LAPACK's info > 0; -1 where a wait between blocks was given up; the matrix is then
/// no factor. Needs compute capability 9.0.

#include "kernels/potrf/recursive_cholesky.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void potrf_recursive(Context& context, Operands<T>& op, const Parameters&) {
  tiles::RecursiveCholesky<T>(context, op.shape, op.a.data, op.a.ld, op.info, op.workspace).factor();
}

GAUSSWEEP_INSTANTIATE(potrf_recursive)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
