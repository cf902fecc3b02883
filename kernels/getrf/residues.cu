/// getrf/residues: getrf/recursive with its large products by residues, on 8-bit integer tensor cores.
///
/// The recursion is recursive_lu.cuh's, the products gemm/residue_products.cuh's where these are faster, the
/// vendor's elsewhere: the parameter `least_inner` says from which inner size on, by itself what rates
/// measured on an H100 predict. Workspace: that of getrf/recursive, and for each of `moduli` n^2 / 4 bytes
/// and 2048 columns of 9 n / 2 bytes. A product of elements that are not finite, or of rows or columns beyond
/// 2^400 or below 2^-400, is the vendor's. The report's iterations are the products by residues. Otherwise as
/// getrf/recursive.

#include "kernels/getrf/residue_lu.cuh"
#include "kernels/tables.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void getrf_residues(Context& context, Operands<T>& op, const Parameters& parameters) {
  lu::factor_by_residues(context, op.a, op.pivots, op.info, parameters, op.workspace);
  context.stage("pivots");
  pivots_from_zero(context, op.pivots, op.shape.n);
}

GAUSSWEEP_INSTANTIATE(getrf_residues)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
