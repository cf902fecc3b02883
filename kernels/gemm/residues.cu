/// gemm/residues: C = A B by residues modulo coprime numbers, on 8-bit integer tensor cores.
///
/// Ozaki's scheme II, residue_products.cuh: its sources stand there. Layout: column-major; the answer is a
/// matrix of its own. Cost: 2 m n k operations of bytes a modulus, and one a term more, or an eighth of one,
/// to choose how many: the parameter `moduli`, by itself as many as make every element as right as a product
/// in full precision can promise. Workspace: m k + c (k + 4 m) bytes a
/// modulus, c = 2048 columns, or more where m is less than 16384. Where an element is not
/// finite, the largest of a row or a column is beyond 2^400 or below 2^-400, elements are of too different
/// sizes or k > 65536, the product is the vendor's. The report's iterations are the moduli, 0 for the
/// vendor's; its convergence is `converged`, or empty.

#include "kernels/gemm/residue_products.cuh"
#include "kernels/tables.hpp"
#ifndef __CUDACC__
#include "kernels/vendor/blas.hpp"
#endif

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void gemm_residues(Context& context, Operands<T>& op, const Parameters& parameters) {
  const auto wanted = static_cast<int>(parameters.integer("moduli"));
  const Shape& s = op.shape;
  context.report = {};
  const int most = wanted == 0 ? residues::most_chosen : wanted;
  residues::ResidueProducts<T> products(context, residues::room_for(s.m, s.n, s.k, most), op.workspace);
  const int moduli = products.multiply(wanted, op.a, op.b, op.x, residues::Output::product);
  context.report.iterations = moduli;
  if (moduli != 0) {
    context.report.convergence = Convergence::converged;
    return;
  }
  context.stage("vendor_product");
  constexpr auto plain = vendor::Op::none;
#ifdef __CUDACC__
  vendor::gemm(vendor_handles(context), plain, plain, s.m, s.n, s.k, T(1), op.a.data, op.a.ld, op.b.data,
               op.b.ld, T(0), op.x.data, op.x.ld);
#else
  vendor::gemm(plain, plain, s.m, s.n, s.k, T(1), op.a.data, op.a.ld, op.b.data, op.b.ld, T(0), op.x.data,
               op.x.ld);
#endif
}

GAUSSWEEP_INSTANTIATE(gemm_residues)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
