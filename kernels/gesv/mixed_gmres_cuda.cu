/// gesv/mixed_gmres: LU in float with products on tensor cores, refined by GMRES to full precision.
///
/// Scales A by powers of two to elements below 2 and factors it in float (getrf/recursive_lu.cuh with the
/// products of getrf/split_products.cuh). These factors precondition flexible GMRES in double (flexible: the
/// directions are stored), which works on residuals of A itself. The factors are applied in float. If that
/// converges too slowly, for instance with a few tiny singular values, they are converted and applied in
/// double. (E. Carson, N. J. Higham, SIAM J. Sci. Comput. 40, 2018; Y. Saad, SIAM J. Sci. Comput. 14, 1993.)
///
/// Error: |b - A x| <= 8 u |A| |x| in the infinity norm (max(1, n / 2) u |A| |x| up to n = 16, u |A| |x|
/// sqrt(n) / 4 from n = 1024 on), which is the criterion of convergence; u is the unit roundoff of the
/// operands' precision. An LU in full precision leaves about as much or more.
///
/// Up to 64 right-hand sides are refined in lock-step: each iteration reads A and the factors once for all of
/// them. Each right-hand side has a separate Krylov space and convergence test.
///
/// The method falls back to gesv/recursive in these cases. Before the factorisation:
/// - n is less than the parameter `float_from`; if `float_from` is 0: the expected time is longer (refined_ms
/// in mixed_workspace.hpp);
/// - an element or the norm of A is not finite or is near the end of double's range;
/// - a sample of 64 rows and columns has several tiny pivots.
///
/// Later:
/// - a pivot is 0;
/// - the pivots fall so fast that the matrix is too ill-conditioned (checked after about each eighth of the
/// columns);
/// - one right-hand side of a group does not converge: the whole group falls back.
///
/// Layout: column-major; the answer replaces b; A survives unless the method falls back. Cost: 2/3 n^3
/// operations in float (executed as three times as many in half precision), and about 2 n^2 + 4 n^2 per
/// iteration and right-hand side. Workspace: the factors with room for double, 3072 halves per row and per
/// column, 61 vectors per right-hand side and, for many right-hand sides, inverted diagonal blocks of the
/// factors; if float is not tried, the workspace of gesv/recursive. The report's history holds, per
/// iteration, the largest 2-norm of a residual, scaled so that it bounds |b - A x| / (|A| |x|). The report's
/// convergence is `converged`, or empty after a fallback. `info` is 0, or that of gesv/recursive after a
/// fallback. n <= 65536. Needs compute capability 9.0.

#include "kernels/gesv/mixed_lu.cuh"
#include "kernels/gesv/mixed_refinement.cuh"
#include "kernels/gesv/mixed_workspace.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::cuda {

template <class T>
void gesv_mixed_gmres(Context& context, Operands<T>& op, const Parameters& parameters) {
  const std::int64_t n = op.shape.n;
  const std::int64_t nrhs = op.shape.nrhs;
  const std::int64_t from = parameters.integer("float_from");
  context.report = {};
  const std::size_t bytes = mixed::workspace_bytes(n, nrhs, sizeof(T), from);
  auto* const memory = op.workspace.template take<std::byte>(static_cast<std::int64_t>(bytes));
  std::int64_t solved = 0;
  if (mixed::worth_trying(n, nrhs, from)) {
    Workspace arena(memory, bytes);
    solved = mixed::refine<T, mixed::LuFactors<T>>(context, op, arena);
  }
  if (solved == nrhs) return;
  Workspace arena(memory, bytes);
  int* const pivots = arena.take<int>(n);
  auto* const solve_memory =
      arena.take<std::byte>(static_cast<std::int64_t>(solve_lu_workspace(n, nrhs, sizeof(T))));
  lu::RecursiveLu<T>(context, op.a.data, op.a.ld, n, pivots, op.info, arena).factor();
  context.stage("getrs");
  solve_lu(context, n, nrhs - solved, op.a.data, op.a.ld, pivots, op.b.data + solved * op.b.ld, op.b.ld,
           solve_memory, op.info);
}

GAUSSWEEP_INSTANTIATE(gesv_mixed_gmres)

}  // namespace gaussweep::cuda
