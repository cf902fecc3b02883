/// geinv/halves: geinv/recursive in float, with large products on tensor cores. Each float is split into FP16
/// numbers (halves).
///
/// The LU factorisation and the parameters are those of getrf/halves. The inverse of L is computed by
/// substitution like the solve with U, so that its large products can use halves, too. Workspace: the
/// workspace of geinv/recursive, up to n^2 / 2 elements for sums, and 6 n `inner` halves, where `inner` is a
/// parameter of the method. The field `iterations` of Context::report is the number of products with halves.
/// The rest is as in geinv/recursive.
///
/// Error: |A X - I| is of the order n u |L| |U| |X|, as for geinv/recursive (u: unit roundoff; Higham,
/// "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 14.3, method A). In addition, splitting
/// floats changes a term of a product by a relative error of up to 2^-21, as in gemm/halves.

#include "kernels/float_rows.hpp"
#include "kernels/geinv/recursive_inverse.cuh"
#include "kernels/getrf/half_lu.cuh"

GAUSSWEEP_DECLARE_FLOAT(geinv_halves)

namespace gaussweep::GAUSSWEEP_BACKEND {

void geinv_halves(Context& context, Operands<float>& op, const Parameters& parameters) {
  context.report = {};
  lu::HalfUpdates products(context, levels::padded_order(op.shape.n), /*includes_solves=*/true, parameters,
                           op.workspace);
  inverse::invert(context, op, &products);
  context.report.iterations = products.count();
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
