/// trtri/levels: the inverse of a triangular matrix level by level, all pairs of a level at once.
///
/// The levels are levels.cuh's: 64 x 64 triangles on the diagonal are inverted in one launch, then pairs of
/// inverses are joined, twice as large from level to level; large halves by cuBLAS's products where there are
/// no tiles of our own for them.
/// Layout: column-major; A stays, the inverse is a matrix of its own, with zeros in the other triangle. Cost:
/// 1/3 n^3 operations and, by strips, up to a quarter more for zeros on the diagonal. Workspace: n^2 / 4
/// elements, and a copy of the matrix where n is no multiple of 64, in which products are faster. A 0 on the
/// diagonal gives info > 0, and the answer is then not finite. Written for compute capability 9.0; needs 8.0
/// to be fast.

#include "kernels/getrf/copy_columns.cuh"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/trtri/levels.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void trtri_levels(Context& context, Operands<T>& op, const Parameters&) {
  const std::int64_t n = op.shape.n;
  const std::int64_t order = levels::whole_order(n);
  T* const products =
      order > levels::block ? op.workspace.template take<T>(levels::product_elements(order)) : nullptr;
  const levels::Triangle<T> a{op.a.data, op.a.ld, static_cast<int>(n), op.shape.uplo == Uplo::lower, false};
  levels::TriangleInverse<T> inverse(context, a, order, products);
  if (order == n) return inverse.invert(op.x.data, op.x.ld, op.info);
  T* const whole = op.workspace.template take<T>(order * order);
  inverse.invert(whole, order, op.info);
  lu::copy_matrix(context, whole, order, op.x.data, op.x.ld, static_cast<int>(n), static_cast<int>(n),
                  static_cast<int>(n));
}

GAUSSWEEP_INSTANTIATE(trtri_levels)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
