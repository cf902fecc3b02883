/// getrf/halves: getrf/recursive in float, with large products on half-precision tensor cores.
///
/// The recursion is in recursive_lu.cuh. gemm/half_products.cuh computes the products: it splits every float
/// into two half-precision numbers (halves). Products with k below the parameter `least_inner` use the
/// vendor's GEMM; if `least_inner` is 0, rates measured on an H200 decide per product. Workspace: the
/// workspace of getrf/recursive, up to n^2 / 4 floats for sums, and 6 n s halves (12 n s bytes). Here s is
/// the parameter `inner`, the number of terms per tensor-core sum. Both operands have up to n s elements, and
/// three halves per element, because the high half is stored twice. The field `iterations` of Context::report
/// is the number of products by halves. Everything else is as in getrf/recursive.
///
/// Error: |P A - L U| is of the order n u |L| |U| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.3). In addition, splitting floats changes a term of a product by
/// a relative error of up to 2^-21 (H. Ootomo, R. Yokota, IJHPCA 36, 2022).

#include "kernels/float_rows.hpp"
#include "kernels/getrf/half_lu.cuh"
#include "kernels/vendor/fixups.hpp"

GAUSSWEEP_DECLARE_FLOAT(getrf_halves)

namespace gaussweep::GAUSSWEEP_BACKEND {

void getrf_halves(Context& context, Operands<float>& op, const Parameters& parameters) {
  lu::factor_by_halves(context, op.a, op.pivots, op.info, parameters, op.workspace);
  context.stage("pivots");
  make_pivots_zero_based(context, op.pivots, op.shape.n);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
