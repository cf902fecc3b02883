/// posv/mixed_gmres: Cholesky in float with products on tensor cores, refined by GMRES to the full precision.
///
/// A is scaled by powers of two to a diagonal of about 1 and factored in float by
/// potrf/recursive_cholesky.cuh with the products of potrf/split_updates.cuh. If the squares of each row
/// without the diagonal have a small sum, the products are in plain FP16. GMRES in double with this factor as
/// preconditioner is that of gesv/mixed_gmres (gesv/mixed_refinement.cuh), with its bounds, for up to 64
/// right-hand sides together.
///
/// The method falls back to posv/recursive in these cases. At the start: n is less than the parameter
/// `float_from`, or if that is 0, the expected time is longer (posv/mixed_workspace.hpp: refined_ms); a
/// sample of 64 rows and columns has several tiny pivots; or an element is not finite or near the end of
/// double's range. Later: a pivot is not positive, or the iteration of a right-hand side does not converge.
///
/// Layout: column-major; the answer replaces b. The triangle `uplo` of A is read, and kept unless the method
/// falls back; with several right-hand sides the other triangle becomes its mirror image. Cost: 1/3 n^3
/// operations in float, one or three times that in FP16, and about 4 n^2 per iteration and right-hand side.
/// Workspace: the factor with room for double, 4 FP16 numbers for each of n x 4096 elements, 61 vectors per
/// right-hand side and, for many, inverses of diagonal blocks of the factor; if float is not tried, that of
/// posv/recursive. The report is like that of gesv/mixed_gmres; `info` is that of posv/recursive after a
/// fallback, else 0. Needs compute capability 9.0.
///
/// Error: |b - A x| <= 8 u |A| |x| in the infinity norm, or n / 2 u |A| |x| up to n = 16, or u |A| |x|
/// sqrt(n) / 4 from n = 1024 on; GMRES ends only then, or if the residual stagnates below sqrt(n) u |A| |x|
/// (E. Carson, N. J. Higham, SIAM J. Sci. Comput. 40, 2018). After a fallback it is that of posv/recursive.

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
