/// potrf/halves: Cholesky factorisation in float. Its updates are FP16 products on tensor cores.
///
/// The launches are those of potrf/recursive in float with 512 columns each. The updates between them are
/// split_updates.cuh's, which are as accurate as float products. The method factors a copy of the matrix,
/// scaled by powers of two to a diagonal of about 1, so that the factor is in the range of FP16. Layout:
/// column-major; the factor replaces the triangle `uplo` of A. Cost: 1/3 n^3 operations, three times that in
/// FP16. Workspace: that of potrf/recursive, a copy, and 4 FP16 numbers for each of n x 4096 elements. info
/// is that of potrf/recursive. Needs compute capability 9.0.
///
/// Error: |A - L L^T| is of the order n u |L| |L^T| (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., theorem 10.3). Splitting floats changes a term of a product by up to 2^-21 of itself
/// in addition, relative to a diagonal of about 1 (H. Ootomo, R. Yokota, IJHPCA 36, 2022).

#include "kernels/potrf/recursive_cholesky.cuh"
#include "kernels/potrf/split_updates.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::cuda {

void potrf_halves(Context& context, Operands<float>& op, const Parameters&) {
  tiles::SplitUpdates updates(context, op.shape.n, op.workspace);
  tiles::RecursiveCholesky<float, tiles::SplitUpdates>(context, op.shape, op.a.data, op.a.ld, op.info,
                                                       op.workspace, tiles::widths_of_halves(), true)
      .factor(updates, {});
}

}  // namespace gaussweep::cuda
