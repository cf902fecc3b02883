/// gesv/halves: LU with partial pivoting in float, with large products on half-precision tensor cores; then
/// both triangular solves in one launch.
///
/// Products split each float into two FP16 numbers, the halves. The factorisation, its parameters, its report
/// and its buffers for products are those of getrf/halves. Everything else is as in gesv/recursive.
///
/// Error: |b - A x| is of the order n u |L| |U| |x| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.4), plus the error of the products of getrf/halves. With partial
/// pivoting the norm of |L| |U| rarely exceeds n times that of A.

#include "kernels/float_rows.hpp"
#include "kernels/getrf/half_lu.cuh"
#include "kernels/trsv/block_chain.hpp"

GAUSSWEEP_DECLARE_FLOAT(gesv_halves)

namespace gaussweep::GAUSSWEEP_BACKEND {

void gesv_halves(Context& context, Operands<float>& op, const Parameters& parameters) {
  const std::int64_t n = op.shape.n;
  const std::int64_t nrhs = op.shape.nrhs;
  int* const pivots = op.workspace.take<int>(n);
  auto* const solve_memory =
      op.workspace.take<std::byte>(static_cast<std::int64_t>(solve_lu_workspace(n, nrhs, sizeof(float))));
  lu::factor_by_halves(context, op.a, pivots, op.info, parameters, op.workspace);
  context.stage("getrs");
  solve_lu(context, n, nrhs, op.a.data, op.a.ld, pivots, op.b.data, op.b.ld, solve_memory, op.info);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
