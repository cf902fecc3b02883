/// geinv/halves: geinv/recursive in float with its large products by split halves, on tensor cores.
///
/// LU is getrf/halves'. The inverse of L is solved for, as that with U is, where its products are by halves
/// too. Parameters as of getrf/halves. Workspace: that of geinv/recursive, up to n^2 / 2 elements for sums,
/// and 6 n `inner` halves. The report's iterations are the products by halves. Otherwise as geinv/recursive.

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
