/// gesv/recursive: LU with partial pivoting, recursive in columns; then both triangular solves in one launch.
///
/// Factors with getrf/recursive_lu.cuh. Solves with trsv/block_chain.cu, whose launch also exchanges the
/// rows. Layout: column-major; the answer replaces b. Cost: 2/3 n^3 + 2 n^2 nrhs operations. Workspace: the
/// workspaces of the factorisation and of the solve, and n pivots. A zero pivot gives info > 0, and the
/// answer is then not finite. n <= 131072. Needs compute capability 9.0.
///
/// Error: |b - A x| is of the order n u |L| |U| |x| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.4). With partial pivoting the norm of |L| |U| rarely exceeds n
/// times that of A.

#include "kernels/getrf/recursive_lu.cuh"
#include "kernels/tables.hpp"
#include "kernels/trsv/block_chain.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void gesv_recursive(Context& context, Operands<T>& op, const Parameters&) {
  const std::int64_t n = op.shape.n;
  const std::int64_t nrhs = op.shape.nrhs;
  int* const pivots = op.workspace.template take<int>(n);
  auto* const solve_memory = op.workspace.template take<std::byte>(
      static_cast<std::int64_t>(solve_lu_workspace(n, nrhs, sizeof(T))));
  lu::RecursiveLu<T>(context, op.a.data, op.a.ld, n, pivots, op.info, op.workspace).factor();
  context.stage("getrs");
  solve_lu(context, n, nrhs, op.a.data, op.a.ld, pivots, op.b.data, op.b.ld, solve_memory, op.info);
}

GAUSSWEEP_INSTANTIATE(gesv_recursive)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
