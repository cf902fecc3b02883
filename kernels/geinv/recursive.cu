/// geinv/recursive: the inverse by LU, the inverse of L, and a solve with U for all columns at once.
///
/// LU is getrf/recursive_lu.cuh's, the inverse of L trtri/levels.cuh's, nearly all of the rest cuBLAS's
/// products. X = U^-1 L^-1 P is solved for, and not multiplied: then |A X - I| is of the size of u |L| |U|
/// |X| whatever the condition of U, which what X L = U^-1 leaves is not (J. Du Croz, N. Higham, Stability of
/// methods for matrix inversion, IMA J. Numer. Anal. 12, 1992). Layout: column-major, in place. Cost: 2 n^3
/// operations. Workspace: 27 n ints, 133 n elements and 5/4 matrices (at least n x 256 elements instead of
/// the quarter), or 9/4 where n is no multiple of 64, in which products are faster. A pivot that is exactly 0
/// gives info > 0, and the answer is then not finite. n <= 65536. Needs compute capability 9.0.

#include "kernels/geinv/recursive_steps.cuh"
#include "kernels/geinv/recursive_workspace.hpp"
#include "kernels/getrf/recursive_lu.cuh"
#include "kernels/tables.hpp"
#include "kernels/trtri/levels.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void geinv_recursive(Context& context, Operands<T>& op, const Parameters&) {
  const int n = static_cast<int>(op.shape.n);
  const int order = static_cast<int>(levels::whole_order(n));
  const auto matrix = static_cast<std::int64_t>(order) * order;
  auto& memory = op.workspace;
  int* const pivots = memory.template take<int>(order);
  T* const reciprocals = memory.template take<T>(order);
  T* const elements = memory.template take<T>(geinv_recursive_elements(order));
  T* const x = memory.template take<T>(matrix);
  T* const a = order == n ? op.a.data : memory.template take<T>(matrix);
  const std::int64_t lda = order == n ? op.a.ld : order;

  if (order != n) inverse::continue_matrix(context, op.a.data, op.a.ld, n, a, order);
  lu::RecursiveLu<T> factors(context, a, lda, order, pivots, op.info, memory);
  factors.factor();
  levels::TriangleInverse<T>(context, {a, lda, order, true, true}, order, elements).invert(x, order, nullptr);
  inverse::UpperSolve<T>{context, a, lda, order, x, order, order, elements, reciprocals}.solve();
  context.stage("exchange");
  const dim3 grid(
      static_cast<unsigned>((n + inverse::each * inverse::threads - 1) / (inverse::each * inverse::threads)),
      static_cast<unsigned>(n));
  simt::launch(context, inverse::exchange_columns<T>, grid, dim3(inverse::threads), 0, x, order,
               factors.rows_of_all(), op.a.data, op.a.ld, n);
}

GAUSSWEEP_INSTANTIATE(geinv_recursive)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
