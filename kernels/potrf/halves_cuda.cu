/// potrf/halves: Cholesky in float whose updates are products of halves on tensor cores.
///
/// The launches are those of potrf/recursive, in float 512 columns each; the products between them
/// split_updates.cuh's, as exact as those of floats. A copy of the matrix is factored, scaled by powers of
/// two to a diagonal of about 1, so that halves hold its factor whatever the matrix's scale. Layout:
/// column-major; the factor takes the place of the triangle `uplo` of A. Cost: 1/3 n^3 operations, three
/// times that in halves. Workspace: that of potrf/recursive, a copy, and 4 halves for each of n x 4096
/// elements. info as potrf/recursive's. Needs compute capability 9.0.

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
