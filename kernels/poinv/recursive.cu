/// poinv/recursive: the inverse by Cholesky's factor and the inverse of that.
///
/// In double on a Hopper GPU the factor L is potrf/recursive's. P = L^-T comes about row by row from the last
/// one up, by substitution, and A^-1 = P P^T in one launch of tiles. Elsewhere L is the vendor's (in float on
/// a Hopper GPU potrf/recursive's), Q = L^-1 is trtri/levels.cuh's and Q^T Q triangle_square.cuh's. That is
/// less accurate where A is ill-conditioned: products with inverses leave a larger Q L - I than substitution.
/// Layout: column-major; the inverse takes the place of A, of which the lower triangle is read. Cost: n^3
/// operations and up to a tenth more. Workspace: 5/4 n^2 elements, 9/4 n^2 where n is no multiple of 64, and
/// what potrf/recursive wants. A pivot that is not positive gives info > 0, -1 a wait between blocks that was
/// given up; the answer is then of no use. Written for compute capability 9.0; needs 8.0 to be fast.

#include <type_traits>

#include "kernels/geinv/recursive_steps.cuh"
#include "kernels/geinv/recursive_workspace.hpp"
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
void factor(Context& context, MatrixView<T> a, int* info, Workspace& workspace, bool mirrored) {
#ifdef __CUDACC__
  if (!simt::has_clusters(context)) {
    context.stage("potrf");
    return vendor::potrf(vendor_handles(context), Uplo::lower, a.rows, a.data, a.ld, info);
  }
#endif
  Shape shape;
  shape.n = a.rows;
  tiles::RecursiveCholesky<T> cholesky(context, shape, a.data, a.ld, info, workspace);
  cholesky.factor();
  if (mirrored) cholesky.mirror();
}

/// The factor, order x order and ld apart, and the inverse in its place.
template <class T>
struct Inverse {
  Context& context;
  T* x;
  std::int64_t ld;
  int order;
  T* triangle;     ///< order x order elements of workspace
  T* elements;     ///< geinv_recursive_elements(order)
  T* reciprocals;  ///< order

  void by_levels() {
    levels::TriangleInverse<T>(context, {x, ld, order, true, false}, order, elements)
        .invert(triangle, order, nullptr);
    levels::TriangleSquare<T>(context, triangle, order, order, x, ld).multiply();
  }
  /// @pre the factor's transpose is in the other triangle
  void by_substitution() {
    inverse::continue_matrix(context, x, ld, 0, triangle, order);
    inverse::UpperSolve<T, lu::NoProducts> solve{context, x,     ld,       order,       triangle,
                                                 order,   order, elements, reciprocals, nullptr};
    solve.inverts = true;
    solve.solve();
    context.stage("square");
    levels::square_by_large_tiles(context, levels::square_of_upper(triangle, order, order, x, ld),
                                  levels::many_of_square);
  }
};

}  // namespace

template <class T>
void poinv_recursive(Context& context, Operands<T>& op, const Parameters&) {
  const int n = static_cast<int>(op.shape.n);
  const int order = static_cast<int>(levels::whole_order(n));
  const auto matrix = static_cast<std::int64_t>(order) * order;
  T* const triangle = op.workspace.template take<T>(matrix);
  T* const elements = op.workspace.template take<T>(geinv_recursive_elements(order));
  T* const reciprocals = op.workspace.template take<T>(order);
  T* const x = order == n ? op.a.data : op.workspace.template take<T>(matrix);
  const std::int64_t ld = order == n ? op.a.ld : order;
  if (order != n) inverse::continue_matrix(context, op.a.data, op.a.ld, n, x, order);
  const bool substitutes = std::is_same_v<T, double> && simt::has_clusters(context);
  factor<T>(context, {x, order, order, ld}, op.info, op.workspace, substitutes);
  Inverse<T> inverse{context, x, ld, order, triangle, elements, reciprocals};
  if constexpr (std::is_same_v<T, double>) {
    if (substitutes) inverse.by_substitution();
  }
  if (!substitutes) inverse.by_levels();
  if (order != n) lu::copy_matrix(context, x, ld, op.a.data, op.a.ld, n, n, n);
  context.stage("mirror");
  mirror_triangle(context, Uplo::lower, op.a);
}

GAUSSWEEP_INSTANTIATE(poinv_recursive)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
