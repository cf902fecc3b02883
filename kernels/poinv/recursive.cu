/// poinv/recursive: the inverse from the Cholesky factor and the factor's inverse.
///
/// In double on a Hopper GPU, potrf/recursive computes the factor L. Substitution then gives P = L^-T, row by
/// row from the last one up, and one launch computes A^-1 = P P^T in tiles. A solution that was computed with
/// the inverse of an ill-conditioned 8 x 8 diagonal tile is corrected by a residual step. Error: |A X - I| is
/// of the order n u |L| |L^T| |X|, like LAPACK's potri (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., section 14.3).
///
/// In all other cases potrf/recursive (on a Hopper GPU) or the vendor computes L, trtri/levels.cuh computes Q
/// = L^-1, and triangle_square.cuh computes Q^T Q. |Q L - I| is as small as if substitution had computed Q.
/// The error bound requires no more (section 14.3 of the same book).
///
/// Layout: column-major; the lower triangle of A is read, and the inverse overwrites A. Cost: n^3 operations
/// and up to a tenth more. Workspace: 5/4 n^2 elements, or 9/4 n^2 if n is not a multiple of 64, plus that of
/// potrf/recursive. A pivot that is not positive gives info > 0; a wait between blocks that timed out gives
/// info = -1. The answer is then meaningless. Written for compute capability 9.0; slow below 8.0.

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

/// Computes the Cholesky factor and returns a view of the factor, which is in A or, padded with an identity,
/// in the workspace. If `mirrors`, also stores the factor's transpose in the other triangle.
template <class T>
MatrixView<T> factor(Context& context, Operands<T>& op, bool mirrors) {
#ifdef __CUDACC__
  if (!simt::has_clusters(context)) {
    const std::int64_t order = levels::padded_order(op.shape.n);
    MatrixView<T> a = op.a;
    if (order != op.shape.n) {
      a = {op.workspace.template take<T>(order * order), order, order, order};
      const int padded = static_cast<int>(order);
      lu::copy_matrix<T>(context, {op.a.data, op.a.ld, static_cast<int>(op.shape.n), /*lower=*/true}, a.data,
                         /*ld_to=*/order, /*rows=*/padded, /*columns=*/padded);
    }
    context.stage("potrf");
    vendor::potrf(vendor_handles(context), Uplo::lower, order, a.data, a.ld, op.info);
    return a;
  }
#endif
  Shape shape;
  shape.n = op.shape.n;
  tiles::RecursiveCholesky<T> cholesky(context, shape, op.a.data, op.a.ld, op.info, op.workspace);
  return mirrors ? cholesky.factor_and_mirror() : cholesky.factor_without_copy_back();
}

/// Replaces the Cholesky factor in `x` by the inverse of A.
template <class T>
struct CholeskyInverse {
  Context& context;
  MatrixView<T> x;  ///< the factor L, padded with an identity to `order`
  int order;
  T* triangle;     ///< order x order elements of workspace
  T* scratch;      ///< geinv_recursive_elements(order) elements of workspace
  T* reciprocals;  ///< `order` elements of workspace

  /// Computes Q = L^-1 level by level (trtri/levels.cuh), then Q^T Q.
  void by_levels() {
    levels::Triangle<T> l{x.data, x.ld, order, /*lower=*/true, /*unit=*/false};
    // `from_left` keeps Q L - I small. This matters because A Q^T Q - I = L (Q L - I)^T Q + (L Q - I), where
    // the first term has the larger factors.
    l.from_left = true;
    levels::TriangleInverse<T>(context, l, order, scratch).invert(triangle, order, /*info=*/nullptr);
    levels::TriangleSquare<T>(context, triangle, order, order, x.data, x.ld).multiply();
  }
  /// Computes P = L^-T by substitution, then P P^T. @pre the factor's transpose is in the other triangle
  void by_substitution() {
    // Copies no element of `x`, so that `triangle` becomes the identity.
    lu::copy_matrix<T>(context, {x.data, x.ld, /*order=*/0}, triangle, /*ld_to=*/order, /*rows=*/order,
                       /*columns=*/order);
    inverse::UpperSolve<T, lu::NoProducts> solve{context, x.data, x.ld,    order,       triangle,
                                                 order,   order,  scratch, reciprocals, /*products=*/nullptr};
    solve.inverts = true;  // the right-hand side is the identity
    solve.solve();
    context.stage("square");
    levels::square_by_large_tiles(context, levels::square_of_upper(triangle, order, order, x.data, x.ld),
                                  levels::min_large_tiles_of_square);
  }
};

}  // namespace

template <class T>
void poinv_recursive(Context& context, Operands<T>& op, const Parameters&) {
  const int order = static_cast<int>(levels::padded_order(op.shape.n));
  T* const triangle = op.workspace.template take<T>(static_cast<std::int64_t>(order) * order);
  T* const scratch = op.workspace.template take<T>(geinv_recursive_elements(order));
  T* const reciprocals = op.workspace.template take<T>(order);
  const bool substitutes = std::is_same_v<T, double> && simt::has_clusters(context);
  const MatrixView<T> x = factor(context, op, substitutes);
  CholeskyInverse<T> inverse{context, x, order, triangle, scratch, reciprocals};
  if constexpr (std::is_same_v<T, double>) {
    if (substitutes) inverse.by_substitution();
  }
  if (!substitutes) inverse.by_levels();
  context.stage("mirror");
  mirror_triangle(context, Uplo::lower, x, op.a);
}

GAUSSWEEP_INSTANTIATE(poinv_recursive)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
