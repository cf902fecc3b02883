/// gemm/halves: C = A B in float, by products of split halves on tensor cores.
///
/// half_products.cuh: its source stands there. Layout: column-major; the answer is a matrix of its own. Cost:
/// 6 m n k operations of halves. Workspace: the sums of up to 2^26 elements of C or of 2048 of its columns, 3
/// `inner` halves a row of A and a column of B, and their exponents. Elements may be anywhere in float's
/// range, rows, columns and inner index graded. A term loses up to 2^-22 of itself, SGEMM's sum of k terms up
/// to k 2^-24 of |A| |B| (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 3.5). So
/// a product of few terms is the vendor's. Of elements that are not finite those of C that they meet are
/// not finite; which infinity that would be is lost.

#include "kernels/float_rows.hpp"
#include "kernels/gemm/half_products.cuh"
#ifndef __CUDACC__
#include "kernels/vendor/blas.hpp"
#endif

GAUSSWEEP_DECLARE_FLOAT(gemm_halves)

namespace gaussweep::GAUSSWEEP_BACKEND {

void gemm_halves(Context& context, Operands<float>& op, const Parameters& parameters) {
  const Shape& s = op.shape;
  if (s.k <= halves::few_terms) {
    context.stage("vendor_product");
    constexpr auto plain = vendor::Op::none;
#ifdef __CUDACC__
    vendor::gemm(vendor_handles(context), plain, plain, s.m, s.n, s.k, 1.0f, op.a.data, op.a.ld, op.b.data,
                 op.b.ld, 0.0f, op.x.data, op.x.ld);
#else
    vendor::gemm(plain, plain, s.m, s.n, s.k, 1.0f, op.a.data, op.a.ld, op.b.data, op.b.ld, 0.0f, op.x.data,
                 op.x.ld);
#endif
    return;
  }
  const std::int64_t inner = parameters.integer("inner");
  halves::HalfProducts products(context, halves::room_of_product(s, inner), inner, op.workspace);
  products.multiply({op.a.data, op.a.rows, op.a.cols, op.a.ld}, {op.b.data, op.b.rows, op.b.cols, op.b.ld},
                    op.x, false);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
