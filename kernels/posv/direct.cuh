#pragma once
/// posv by Cholesky in the operands' precision.

#include "kernels/potrf/recursive_cholesky.cuh"
#include "kernels/registry/method.hpp"
#include "kernels/trsv/block_chain.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// Factors op.a and replaces the right-hand sides beginning at number `first` by the solutions. `memory` has
/// definite::direct_bytes.
template <class T>
void solve_directly(Context& context, Operands<T>& op, std::int64_t first, Workspace& memory) {
  const std::int64_t n = op.shape.n;
  tiles::RecursiveCholesky<T> cholesky(context, op.shape, op.a.data, op.a.ld, op.info, memory);
  auto* const solving = memory.template take<std::byte>(
      static_cast<std::int64_t>(solve_lu_workspace(n, op.shape.nrhs, sizeof(T))));
  const MatrixView<T> both = cholesky.factor_and_mirror();
  context.stage("potrs");
  solve_cholesky(context, n, op.shape.nrhs - first, both.data, both.ld, op.b.data + first * op.b.ld, op.b.ld,
                 solving, op.info);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
