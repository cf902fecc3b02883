/// posv/mixed_gmres: Cholesky in float with products on tensor cores, refined by GMRES to the full precision.
///
/// A is scaled by powers of two to a diagonal of about 1 and factored in float, potrf/recursive_cholesky.cuh
/// with products of potrf/split_updates.cuh. Where the rows' squares beside the diagonal sum up to little,
/// these are products of plain halves. GMRES in double with this factor as preconditioner is
/// gesv/mixed_gmres's (mixed/refinement.cuh), with its bounds, up to 64 right-hand sides at once. Where that
/// is not to be had, posv/recursive's way is taken: at once where n is less than the parameter `float_from`
/// or, where that is 0, where the expected time is longer (posv/mixed_workspace.hpp: refined_ms); a sample of
/// 64 rows and columns has several tiny pivots; or something is not finite or near the end of the range;
/// later where a pivot is not positive, or the iteration of one right-hand side makes no headway.
///
/// Layout: column-major; the answer replaces b. Of A the triangle `uplo` is read, and stays where no other
/// way was taken; with several right-hand sides the other one becomes its mirror image. Cost: 1/3 n^3
/// operations in float, one or three times that in halves, and some 4 n^2 an iteration and right-hand side.
/// Workspace: the factor with room to be double, 4 halves for each of n x 4096 elements, 61 vectors a
/// right-hand side and, for many, inverses of blocks on the factor's diagonal; where float is not tried, that
/// of posv/recursive. The report is as that of gesv/mixed_gmres; `info` is that of the direct way where it
/// was taken, else 0. Needs compute capability 9.0.

#include "kernels/gesv/mixed_refinement.cuh"
#include "kernels/posv/direct.cuh"
#include "kernels/posv/mixed_cholesky.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::cuda {

template <class T>
void posv_mixed_gmres(Context& context, Operands<T>& op, const Parameters& parameters) {
  context.report = {};
  const std::int64_t from = parameters.integer("float_from");
  const std::size_t bytes = definite::mixed_bytes(op.shape, sizeof(T), from);
  auto* const memory = op.workspace.template take<std::byte>(static_cast<std::int64_t>(bytes));
  std::int64_t solved = 0;
  if (definite::worth_trying(op.shape.n, op.shape.nrhs, from)) {
    Workspace room(memory, bytes);
    solved = mixed::refine<T, mixed::CholeskyFactors<T>>(context, op, room, op.shape.uplo, op.shape.nrhs > 1);
  }
  if (solved == op.shape.nrhs) return;
  Workspace room(memory, bytes);
  solve_directly(context, op, solved, room);
}

GAUSSWEEP_INSTANTIATE(posv_mixed_gmres)

}  // namespace gaussweep::cuda
