/// posv/mixed_gmres: Cholesky in float with products on tensor cores, refined by GMRES to full precision.
///
/// A is scaled by powers of two to a diagonal of about 1 and factored in float by
/// potrf/recursive_cholesky.cuh with the products of potrf/split_updates.cuh, which split each operand into
/// two FP16 numbers. Operands are rounded to one FP16 number instead if the scaled matrix is
/// close to its diagonal. The off-diagonal elements of every row must have a small sum of squares, and the
/// pivots of a sample of 64 rows and columns must be above 1/2. The Cholesky factor preconditions the GMRES
/// of gesv/mixed_gmres in double (gesv/mixed_refinement.cuh). Up to 64 right-hand sides are refined together.
///
/// The method falls back to posv/recursive in these cases:
/// - n is less than the parameter `float_from`;
/// - `float_from` is 0, and posv/recursive is expected to be faster (tries_float_factors in
/// posv/mixed_workspace.hpp);
/// - the sample has more than three pivots below 2^-6;
/// - an element is not finite or is near the end of double's range;
/// - a pivot is not positive;
/// - the iteration of a right-hand side does not converge.
///
/// Layout: column-major; the answer replaces b. The triangle `uplo` of A is read, and survives unless the
/// method falls back; with several right-hand sides the other triangle becomes its mirror image. Cost: 1/3
/// n^3 operations in float (executed as one or three times as many in FP16), and about 4 n^2 per iteration
/// and right-hand side. Workspace: memory for the factor in double, 4 FP16 numbers for each of n x 4096
/// elements, and 61 vectors per right-hand side. Many right-hand sides also need inverses of diagonal blocks
/// of the factor. If float is not tried, the workspace is that of posv/recursive. Context::report is filled
/// as by gesv/mixed_gmres. `info` is 0, or that of posv/recursive after a fallback. Needs compute capability
/// 9.0.
///
/// Error: |b - A x| <= c u |A| |x| in the infinity norm, with the unit roundoff u (E. Carson, N. J. Higham,
/// SIAM J. Sci. Comput. 40, 2018). c is max(1, n / 2) up to n = 16, sqrt(n) / 4 from n = 1024 on, and 8 in
/// between. If the residual stagnates above this bound, c is max(2, sqrt(n)). After a fallback the error is
/// that of posv/recursive.

#include "kernels/gesv/mixed_refinement.cuh"
#include "kernels/posv/direct.cuh"
#include "kernels/posv/mixed_cholesky.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::cuda {

template <class T>
void posv_mixed_gmres(Context& context, Operands<T>& op, const Parameters& parameters) {
  context.report = {};
  const std::int64_t float_from = parameters.integer("float_from");
  const std::size_t bytes = definite::mixed_bytes(op.shape, sizeof(T), float_from);
  auto* const memory = op.workspace.template take<std::byte>(static_cast<std::int64_t>(bytes));
  std::int64_t solved = 0;
  if (definite::tries_float_factors(op.shape.n, op.shape.nrhs, float_from)) {
    Workspace refinement_memory(memory, bytes);
    solved = mixed::refine<T, mixed::CholeskyFactors<T>>(context, op, refinement_memory, op.shape.uplo,
                                                         /*mirrored=*/op.shape.nrhs > 1);
  }
  if (solved == op.shape.nrhs) return;
  Workspace fallback_memory(memory, bytes);  // reuses the memory of refinement_memory
  solve_directly(context, op, solved, fallback_memory);
}

GAUSSWEEP_INSTANTIATE(posv_mixed_gmres)

}  // namespace gaussweep::cuda
