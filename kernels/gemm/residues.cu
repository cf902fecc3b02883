/// gemm/residues: C = A B by residues modulo coprime numbers, on 8-bit integer tensor cores.
///
/// The algorithm is Ozaki's scheme II; residue_products.cuh describes it and names the sources. Layout:
/// column-major; C is a separate matrix. Cost: 2 m n k operations on bytes per modulus, plus 2 m n k or
/// m n k / 4 for a pre-pass. The pre-pass estimates |A| |B| and chooses the number of moduli such that
/// every element has the error bound of a product in full precision. The parameter `moduli` overrides this
/// number; moduli that add no bits are not used. Workspace: m k + c (k + 4 m) bytes per modulus, where c is
/// 2048 columns, or more if m < 16384.
///
/// The vendor's GEMM computes the product if k is below the parameter `least_inner`. It also computes the
/// product if neither `moduli` nor `least_inner` is given and it is expected to be faster
/// (residues::are_faster). The vendor's GEMM is also used if k > 65536, if an element is not finite, or if
/// `moduli` is too small for the bound below. Further reasons are magnitudes that differ too much, and maxima
/// of rows or columns above 2^400 or below 2^-400. In the report, `iterations` is the number of moduli and
/// `convergence` is `converged`. If the vendor's GEMM computed the product, `iterations` is 0 and
/// `convergence` is empty.
///
/// Error: if the pre-pass chooses the moduli, |C - A B| <= (k + 2) u |A| |B| (bits_needed in
/// residue_numbers.hpp), as for a product in full precision (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., section 3.5). If the parameter `moduli` is given, let P be the product of the moduli
/// and b = min(58, log2(P / (2 k)) / 2). Rounding the scaled elements then causes an error of about k 2^-b
/// max|a(i, :)| max|b(:, j)| in element (i, j) (K. Ozaki, Y. Uchino, T. Imamura, arXiv:2504.08009).
///
/// The parameter `moduli` is large enough if one of two conditions holds. The first is ||C - A B|| <= sqrt(k
/// + 2) u ||A|| ||B|| (Frobenius norms). The second is that every element has at most a third of the error
/// bound above. The first condition holds for any operands if b >= 26 in float and b >= 55 in double.
/// Otherwise a pre-pass tests the second condition. It needs at least 5 to 7 moduli in float, depending on
/// k, and 12 to 15 in double.

#include "kernels/gemm/residue_products.cuh"
#include "kernels/tables.hpp"
#ifndef __CUDACC__
#include "kernels/vendor/blas.hpp"
#endif

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void gemm_residues(Context& context, Operands<T>& op, const Parameters& parameters) {
  const auto requested = static_cast<int>(parameters.integer("moduli"));
  const Shape& s = op.shape;
  context.report = {};
  const int max_moduli = requested == 0 ? residues::max_moduli : requested;
  int moduli = 0;
  if (residues::are_used(s, parameters, sizeof(T))) {
    residues::ResidueProducts<T> products(context, residues::capacity_for(s.m, s.n, s.k, max_moduli),
                                          op.workspace);
    moduli = products.multiply(requested, op.a, op.b, op.x, residues::ProductUse::product);
  }
  context.report.iterations = moduli;
  if (moduli != 0) {
    context.report.convergence = Convergence::converged;
    return;
  }
  context.stage("vendor_product");
  constexpr auto no_transpose = vendor::Op::none;
#ifdef __CUDACC__
  vendor::gemm(vendor_handles(context), no_transpose, no_transpose, s.m, s.n, s.k, T(1), op.a.data, op.a.ld,
               op.b.data, op.b.ld, T(0), op.x.data, op.x.ld);
#else
  vendor::gemm(no_transpose, no_transpose, s.m, s.n, s.k, T(1), op.a.data, op.a.ld, op.b.data, op.b.ld, T(0),
               op.x.data, op.x.ld);
#endif
}

GAUSSWEEP_INSTANTIATE(gemm_residues)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
