/// getrf/residues: getrf/recursive, with large products on 8-bit integer tensor cores.
///
/// The recursion is in recursive_lu.cuh. gemm/residue_products.cuh computes the products: it rounds L and U
/// to scaled integers and multiplies their residues modulo several 8-bit numbers. Products with k below the
/// parameter `least_inner` use the vendor's GEMM; if `least_inner` is 0, rates measured on an H200 decide per
/// product. The vendor's GEMM also computes products with elements that are not finite, or with rows or
/// columns whose maxima are above 2^400 or below 2^-400. It computes all products if `moduli` is so small
/// that elements keep less than 18 bits in float or 47 bits in double. Everything else is as in
/// getrf/recursive.
///
/// Workspace: the workspace of getrf/recursive. In addition per modulus: n^2 / 4 bytes for residues of the
/// left operand, and 2048 columns of 9 n / 2 bytes. A column is n / 2 bytes of residues of the right operand
/// and n 32-bit sums. The field `iterations` of Context::report is the number of products by residues.
///
/// Error: |P A - L U| is of the order n u |L| |U| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.3). Every product by residues with k terms adds about k 2^-b
/// max|l(i, :)| max|u(:, j)| to element (i, j). Here b is the number of bits that elements keep when they are
/// rounded to integers (the formula is in gemm/residues.cu). The defaults are 15 moduli in double (b >= 50)
/// and 8 in float (b >= 23).

#include "kernels/getrf/residue_lu.cuh"
#include "kernels/tables.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void getrf_residues(Context& context, Operands<T>& op, const Parameters& parameters) {
  lu::factor_by_residues(context, op.a, op.pivots, op.info, parameters, op.workspace);
  context.stage("pivots");
  make_pivots_zero_based(context, op.pivots, op.shape.n);
}

GAUSSWEEP_INSTANTIATE(getrf_residues)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
