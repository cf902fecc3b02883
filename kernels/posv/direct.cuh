#pragma once
/// Solves a symmetric positive definite system by Cholesky in the operands' precision, for posv/recursive and
/// for the fallback of posv/mixed_gmres.

#include "kernels/potrf/recursive_cholesky.cuh"
#include "kernels/registry/method.hpp"
#include "kernels/trsv/block_chain.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// Factors op.a and replaces the right-hand sides from index `first_rhs` on by their solutions.
/// @param memory definite::direct_bytes bytes of workspace (mixed_workspace.hpp). The solve takes as much of
/// it as a solve with LU factors (solve_lu_workspace)
template <class T>
void solve_directly(Context& context, Operands<T>& op, std::int64_t first_rhs, Workspace& memory) {
  const std::int64_t n = op.shape.n;
  tiles::RecursiveCholesky<T> cholesky(context, op.shape, op.a.data, op.a.ld, op.info, memory);
  auto* const solve_memory = memory.template take<std::byte>(
      static_cast<std::int64_t>(solve_lu_workspace(n, op.shape.nrhs, sizeof(T))));
  const MatrixView<T> factor = cholesky.factor_and_mirror();
  context.stage("potrs");
  solve_cholesky(context, n, op.shape.nrhs - first_rhs, factor.data, factor.ld,
                 op.b.data + first_rhs * op.b.ld, op.b.ld, solve_memory, op.info);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
