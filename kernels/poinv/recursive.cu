/// poinv/recursive: the inverse by Cholesky's factor L, L^-1, and the product L^-T L^-1.
///
/// L is potrf/recursive's, on GPUs before Hopper the vendor's; L^-1 is trtri/levels.cuh's, the product
/// triangle_square.cuh's. Layout: column-major; the inverse takes the place of A, of which the lower triangle
/// is read. Cost: n^3 operations and up to a tenth more. Workspace: 5/4 n^2 elements, 9/4 n^2 where n is no
/// multiple of 64, and what potrf/recursive wants. A pivot that is not positive gives info > 0, -1 a wait
/// between blocks that was given up; the answer is then of no use. Written for compute capability 9.0; needs
/// 8.0 to be fast.

#include "kernels/geinv/recursive_steps.cuh"
#include "kernels/getrf/copy_columns.cuh"
#include "kernels/poinv/triangle_square.cuh"
#include "kernels/potrf/recursive_cholesky.cuh"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/trtri/levels.cuh"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

template <class T>
void factor(Context& context, MatrixView<T> a, int* info, Workspace& workspace) {
#ifdef __CUDACC__
  if (!simt::has_clusters(context)) {
    context.stage("potrf");
    return vendor::potrf(vendor_handles(context), Uplo::lower, a.rows, a.data, a.ld, info);
  }
#endif
  Shape shape;
  shape.n = a.rows;
  tiles::RecursiveCholesky<T>(context, shape, a.data, a.ld, info, workspace).factor();
}

}  // namespace

template <class T>
void poinv_recursive(Context& context, Operands<T>& op, const Parameters&) {
  const int n = static_cast<int>(op.shape.n);
  const int order = static_cast<int>(levels::whole_order(n));
  const auto matrix = static_cast<std::int64_t>(order) * order;
  T* const inverse_of_l = op.workspace.template take<T>(matrix);
  T* const products = op.workspace.template take<T>(levels::product_elements(order));
  T* const x = order == n ? op.a.data : op.workspace.template take<T>(matrix);
  const std::int64_t ld = order == n ? op.a.ld : order;
  if (order != n) inverse::continue_matrix(context, op.a.data, op.a.ld, n, x, order);
  factor<T>(context, {x, order, order, ld}, op.info, op.workspace);
  levels::TriangleInverse<T>(context, {x, ld, order, true, false}, order, products)
      .invert(inverse_of_l, order, nullptr);
  levels::TriangleSquare<T>(context, inverse_of_l, order, order, x, ld).multiply();
  if (order != n) lu::copy_matrix(context, x, ld, op.a.data, op.a.ld, n, n, n);
  context.stage("mirror");
  mirror_triangle(context, Uplo::lower, op.a);
}

GAUSSWEEP_INSTANTIATE(poinv_recursive)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
