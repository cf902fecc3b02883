/// potrf/halves: Cholesky factorisation in float whose updates run on tensor cores, with floats that are
/// split into FP16 numbers (halves).
///
/// The method is potrf/recursive in float, but with 512 columns per launch and the updates of
/// split_updates.cuh. These updates are as accurate as float products. The method factors a copy of the
/// matrix, scaled by powers of two to a diagonal of about 1. The factor is then in the range of FP16. Layout:
/// column-major; the factor replaces the triangle `uplo` of A. Cost: 1/3 n^3 operations, executed as n^3
/// operations in FP16, because each product becomes three. Workspace: as for potrf/recursive, plus a copy of
/// the matrix, plus 4 FP16 numbers per element of an n x 4096 panel. info is as for potrf/recursive. Needs
/// compute capability 9.0.
///
/// Error: |A - L L^T| is of the order n u |L| |L^T| (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., theorem 10.3). In addition, splitting floats changes each term of a product by up to
/// 2^-21, relative to a diagonal of about 1 (H. Ootomo, R. Yokota, IJHPCA 36, 2022).

#include "kernels/potrf/recursive_cholesky.cuh"
#include "kernels/potrf/split_updates.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::cuda {

void potrf_halves(Context& context, Operands<float>& op, const Parameters&) {
  tiles::SplitUpdates updates(context, op.shape.n, op.workspace);
  tiles::RecursiveCholesky<float, tiles::SplitUpdates>(context, op.shape, op.a.data, op.a.ld, op.info,
                                                       op.workspace, tiles::thresholds_of_halves(),
                                                       /*scaled=*/true)
      .factor(updates, {});
}

}  // namespace gaussweep::cuda
