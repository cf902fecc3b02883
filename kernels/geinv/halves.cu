/// geinv/halves: geinv/recursive in float with large products as split FP16 products on tensor cores.
///
/// The LU factorisation is that of getrf/halves. The inverse of L is computed by substitution like the solve
/// with U, so that its products can be in FP16 too. The parameters are those of getrf/halves. Workspace: that
/// of geinv/recursive, up to n^2 / 2 elements for sums, and 6 n `inner` FP16 numbers. The report's iterations
/// are the number of FP16 products. Otherwise like geinv/recursive.
///
/// Error: |A X - I| is of the order n u |L| |U| |X|, as for geinv/recursive (Higham, "Accuracy and Stability
/// of Numerical Algorithms", 2nd ed., section 14.3, method A), plus the error of splitting floats. That
/// changes a term of a product by up to 2^-21 of itself, as in gemm/halves.

#include "kernels/float_rows.hpp"
#include "kernels/geinv/recursive_inverse.cuh"
#include "kernels/getrf/half_lu.cuh"

GAUSSWEEP_DECLARE_FLOAT(geinv_halves)

namespace gaussweep::GAUSSWEEP_BACKEND {

void geinv_halves(Context& context, Operands<float>& op, const Parameters& parameters) {
  context.report = {};
  lu::HalfUpdates products(context, levels::whole_order(op.shape.n), true, parameters, op.workspace);
  inverse::invert(context, op, &products);
  context.report.iterations = products.made();
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
