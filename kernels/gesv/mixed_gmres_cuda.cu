/// gesv/mixed_gmres: LU in float with products on tensor cores, refined by GMRES to full precision.
///
/// Scales rows and columns of A by powers of two, so that all elements are below 2. Factors the result in
/// float (getrf/recursive_lu.cuh with the products of getrf/split_products.cuh). The factors precondition
/// flexible GMRES in double. Flexible means that the preconditioned directions are stored, so that the
/// preconditioner may change. If convergence is too slow with factors in float, for instance because of a few
/// tiny singular values, the factors are converted to double. (E. Carson, N. J. Higham, SIAM J. Sci. Comput.
/// 40, 2018; Y. Saad, SIAM J. Sci. Comput. 14, 1993.)
///
/// Error: |b - A x| <= t u |A| |x| in the infinity norm, with t = min(max(1, n / 2), max(8, sqrt(n) / 4)).
/// This is the convergence test; u is the unit roundoff of the operands' precision. If rounding errors stop
/// the convergence earlier, t = max(2, sqrt(n)) is accepted. The error of an LU in full precision is about as
/// large or larger.
///
/// Up to 64 right-hand sides form a group that is refined in lock-step: each iteration reads A and the
/// factors once for all of them. Each right-hand side has a separate Krylov space and convergence test.
///
/// The method solves with gesv/recursive instead (falls back) in these cases. Before the factorisation:
/// - n is less than the parameter `float_from`, or `float_from` is 0 and gesv/recursive is expected to be
/// faster (tries_float_factors in mixed_workspace.hpp);
/// - an element of A is not finite, or the norm of A is not between 2^-500 and 2^500;
/// - a sample of 64 rows and columns of the scaled matrix is factored, and more than three of its pivots are
/// below 2^-10.5.
///
/// During the factorisation and the iteration:
/// - a pivot is 0;
/// - the pivots decrease so fast that the matrix is too ill-conditioned (checked after about each eighth of
/// the columns);
/// - a right-hand side does not converge: its group and all later groups fall back.
///
/// Layout: column-major; the answer replaces b; A is overwritten only by a fallback. Cost: 2/3 n^3 operations
/// in float, which are computed as 2 n^3 in half precision. Per right-hand side, each iteration costs about 4
/// n^2 operations and each GMRES cycle about 2 n^2. Workspace: memory for the factors in double, and 3072
/// half-precision numbers per row and per column (operands of products, split into two halves). Also 63
/// vectors per right-hand side (mostly basis vectors and directions), and partial sums of products. From 33
/// right-hand sides on, the workspace also has inverted diagonal blocks of the factors. If float is not
/// tried, the workspace is that of gesv/recursive. The history in Context::report holds, per iteration, the
/// largest 2-norm of a residual, scaled so that it bounds |b - A x| / (|A| |x|). The convergence in the
/// report is `converged`, or none after a fallback. `info` is 0, or that of gesv/recursive after a fallback.
/// n <= 65536. Needs compute capability 9.0.

#include "kernels/gesv/mixed_lu.cuh"
#include "kernels/gesv/mixed_refinement.cuh"
#include "kernels/gesv/mixed_workspace.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::cuda {

template <class T>
void gesv_mixed_gmres(Context& context, Operands<T>& op, const Parameters& parameters) {
  const std::int64_t n = op.shape.n;
  const std::int64_t nrhs = op.shape.nrhs;
  const std::int64_t float_from = parameters.integer("float_from");
  context.report = {};
  const std::size_t bytes = mixed::workspace_bytes(n, nrhs, sizeof(T), float_from);
  auto* const memory = op.workspace.template take<std::byte>(static_cast<std::int64_t>(bytes));
  std::int64_t solved = 0;
  if (mixed::tries_float_factors(n, nrhs, float_from)) {
    Workspace refinement_memory(memory, bytes);
    solved = mixed::refine<T, mixed::LuFactors<T>>(context, op, refinement_memory);
  }
  if (solved == nrhs) return;
  Workspace fallback_memory(memory, bytes);  // reuses the memory of refinement_memory
  int* const pivots = fallback_memory.take<int>(n);
  auto* const solve_memory =
      fallback_memory.take<std::byte>(static_cast<std::int64_t>(solve_lu_workspace(n, nrhs, sizeof(T))));
  lu::RecursiveLu<T>(context, op.a.data, op.a.ld, n, pivots, op.info, fallback_memory).factor();
  context.stage("getrs");
  solve_lu(context, n, nrhs - solved, op.a.data, op.a.ld, pivots, op.b.data + solved * op.b.ld, op.b.ld,
           solve_memory, op.info);
}

GAUSSWEEP_INSTANTIATE(gesv_mixed_gmres)

}  // namespace gaussweep::cuda
