/// gesv/residues: LU with partial pivoting, with large products in integer arithmetic modulo small numbers;
/// then both triangular solves in one launch.
///
/// Products are computed *by residues*: as integer products modulo several 8-bit numbers, from which the
/// result is reconstructed. The
/// factorisation, its parameters, its report and its buffers for products are those of getrf/residues.
/// Everything else is as in gesv/recursive.
///
/// Error: |b - A x| is of the order n u |L| |U| |x| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.4), plus the error of the products of getrf/residues. With
/// partial pivoting the norm of |L| |U| rarely exceeds n times that of A.

#include "kernels/getrf/residue_lu.cuh"
#include "kernels/tables.hpp"
#include "kernels/trsv/block_chain.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void gesv_residues(Context& context, Operands<T>& op, const Parameters& parameters) {
  const std::int64_t n = op.shape.n;
  const std::int64_t nrhs = op.shape.nrhs;
  int* const pivots = op.workspace.template take<int>(n);
  auto* const solve_memory = op.workspace.template take<std::byte>(
      static_cast<std::int64_t>(solve_lu_workspace(n, nrhs, sizeof(T))));
  lu::factor_by_residues(context, op.a, pivots, op.info, parameters, op.workspace);
  context.stage("getrs");
  solve_lu(context, n, nrhs, op.a.data, op.a.ld, pivots, op.b.data, op.b.ld, solve_memory, op.info);
}

GAUSSWEEP_INSTANTIATE(gesv_residues)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
