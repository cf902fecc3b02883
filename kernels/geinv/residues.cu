/// geinv/residues: geinv/recursive, with large products on 8-bit integer tensor cores.
///
/// The LU factorisation and the parameters are those of getrf/residues, which describes the products. L^-1 is
/// computed by substitution, as X is computed from U, so that its large products can use residues, too.
/// Workspace: the workspace of geinv/recursive, and that of getrf/residues for residues and sums. The field
/// `iterations` of Context::report is the number of products by residues. The rest is as in geinv/recursive.
///
/// Error: |A X - I| is of the order n u |L| |U| |X|, as for geinv/recursive (u: unit roundoff; Higham,
/// "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 14.3, method A). Products by residues
/// add their own error (getrf/residues).

#include "kernels/geinv/recursive_inverse.cuh"
#include "kernels/getrf/residue_lu.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void geinv_residues(Context& context, Operands<T>& op, const Parameters& parameters) {
  context.report = {};
  lu::ResidueUpdates<T> products(context, levels::padded_order(op.shape.n), parameters, op.workspace);
  inverse::invert(context, op, &products);
  context.report.iterations = products.count();
}

GAUSSWEEP_INSTANTIATE(geinv_residues)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
