/// gesv/mixed_gmres: LU in float with products on tensor cores, refined by GMRES to the full precision.
///
/// A is scaled by powers of two to elements below 2 and factored in float, getrf/recursive_lu.cuh with
/// products of getrf/split_products.cuh. GMRES in double with these factors as preconditioner, flexible (its
/// directions are kept), on residuals of A itself, then finds x so that |b - A x| is at most 8 u |A| |x| in
/// the largest norm (from n = 1024 on u |A| |x| sqrt(n) / 4), u the precision's: about what an LU in the full
/// precision leaves, or less. The factors are applied in float; where that gains too little, as with a few
/// tiny singular values, they are converted and applied in double. (E. Carson, N. J. Higham, SIAM J. Sci.
/// Comput. 40, 2018; Y. Saad, SIAM J. Sci. Comput. 14, 1993.)
///
/// Up to 64 right-hand sides are refined at once, in lock-step: one reading of A and of the factors an
/// iteration serves all of them. Each has its own Krylov space and its own end.
///
/// Where that is not to be had, gesv/recursive's way is taken: at once where n is less than the parameter
/// `float_from` or, where that is 0, where the expected time is longer (mixed_workspace.hpp: refined_ms); an
/// element or the norm of A is not finite or near the end of the range; or a sample of 64 rows and columns
/// has several tiny pivots; later where a pivot is 0, the pivots fall as those of a matrix too
/// ill-conditioned do, seen after some eighths of the columns, or the iteration of one right-hand side makes
/// no headway: those refined with it go that way too.
///
/// Layout: column-major; the answer replaces b, A stays where no other way was taken. Cost: 2/3 n^3
/// operations in float, three times that in halves, and some 2 n^2 + 4 n^2 an iteration and right-hand side.
/// Workspace: the factors with room to be double, 3072 halves a row and a column, 61 vectors a right-hand
/// side and, for many, inverses of blocks on the factors' diagonals; where float is not tried, that of
/// gesv/recursive. The report's history is, after each iteration, the largest 2-norm of a residual, scaled so
/// that it bounds |b - A x| / (|A| |x|); its convergence is `converged`, or empty where the answer is that of
/// the direct way; `info` is then that of gesv/recursive, else 0. n <= 65536. Needs compute capability 9.0.

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
    Workspace room(memory, bytes);
    solved = mixed::refine<T, mixed::LuFactors<T>>(context, op, room);
  }
  if (solved == nrhs) return;
  Workspace room(memory, bytes);
  int* const pivots = room.take<int>(n);
  auto* const solving =
      room.take<std::byte>(static_cast<std::int64_t>(solve_lu_workspace(n, nrhs, sizeof(T))));
  lu::RecursiveLu<T>(context, op.a.data, op.a.ld, n, pivots, op.info, room).factor();
  context.stage("getrs");
  solve_lu(context, n, nrhs - solved, op.a.data, op.a.ld, pivots, op.b.data + solved * op.b.ld, op.b.ld,
           solving, op.info);
}

GAUSSWEEP_INSTANTIATE(gesv_mixed_gmres)

}  // namespace gaussweep::cuda
