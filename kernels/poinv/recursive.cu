/// poinv/recursive: the inverse by Cholesky's factor and the inverse of that.
///
/// In double on a Hopper GPU the factor L is potrf/recursive's. P = L^-T comes about row by row from the last
/// one up, by substitution, and A^-1 = P P^T in one launch of tiles. Inverses of 8 x 8 tiles that are ill-
/// conditioned are followed by a correction. Error: |A X - I| is of the order n u |L| |L^T| |X|, as that of
/// LAPACK's potri (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 14.3).
/// Elsewhere L is the vendor's (in float on a Hopper GPU potrf/recursive's), Q = L^-1 is trtri/levels.cuh's
/// and Q^T Q triangle_square.cuh's. |Q L - I| is as small as by substitution, which is what potri needs (the
/// same section). Layout: column-major; the inverse takes the place of A, of which the lower triangle is
/// read. Cost: n^3 operations and up to a tenth more. Workspace: 5/4 n^2 elements, 9/4 n^2 where n is no
/// multiple of 64, and what potrf/recursive wants. A pivot that is not positive gives info > 0, -1 a wait
/// between blocks that was given up; the answer is then of no use. Written for compute capability 9.0; needs
/// 8.0 to be fast.

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

/// Cholesky's factor, and where it is: in the matrix or, continued by an identity, in the workspace.
/// `mirrored`: its transpose is in the other triangle.
template <class T>
MatrixView<T> factor(Context& context, Operands<T>& op, bool mirrored) {
#ifdef __CUDACC__
  if (!simt::has_clusters(context)) {
    const std::int64_t order = levels::whole_order(op.shape.n);
    MatrixView<T> a = op.a;
    if (order != op.shape.n) {
      a = {op.workspace.template take<T>(order * order), order, order, order};
      const int whole = static_cast<int>(order);
      lu::copy_matrix<T>(context, {op.a.data, op.a.ld, static_cast<int>(op.shape.n), true}, a.data, order,
                         whole, whole);
    }
    context.stage("potrf");
    vendor::potrf(vendor_handles(context), Uplo::lower, order, a.data, a.ld, op.info);
    return a;
  }
#endif
  Shape shape;
  shape.n = op.shape.n;
  tiles::RecursiveCholesky<T> cholesky(context, shape, op.a.data, op.a.ld, op.info, op.workspace);
  return mirrored ? cholesky.factor_and_mirror() : cholesky.factor_where_it_is();
}

/// The inverse in the place of the factor, of which the first `order` rows and columns count.
template <class T>
struct Inverse {
  Context& context;
  MatrixView<T> x;
  int order;
  T* triangle;     ///< order x order elements of workspace
  T* elements;     ///< geinv_recursive_elements(order)
  T* reciprocals;  ///< order

  void by_levels() {
    // A Q^T Q - I = L (Q L - I)^T Q + L Q - I, where Q L - I has the larger factors.
    levels::TriangleInverse<T>(context, {x.data, x.ld, order, true, false, 1, 0, true}, order, elements)
        .invert(triangle, order, nullptr);
    levels::TriangleSquare<T>(context, triangle, order, order, x.data, x.ld).multiply();
  }
  /// @pre the factor's transpose is in the other triangle
  void by_substitution() {
    lu::copy_matrix<T>(context, {x.data, x.ld, 0}, triangle, order, order, order);  // the identity
    inverse::UpperSolve<T, lu::NoProducts> solve{context, x.data, x.ld,     order,       triangle,
                                                 order,   order,  elements, reciprocals, nullptr};
    solve.inverts = true;
    solve.solve();
    context.stage("square");
    levels::square_by_large_tiles(context, levels::square_of_upper(triangle, order, order, x.data, x.ld),
                                  levels::many_of_square);
  }
};

}  // namespace

template <class T>
void poinv_recursive(Context& context, Operands<T>& op, const Parameters&) {
  const int order = static_cast<int>(levels::whole_order(op.shape.n));
  T* const triangle = op.workspace.template take<T>(static_cast<std::int64_t>(order) * order);
  T* const elements = op.workspace.template take<T>(geinv_recursive_elements(order));
  T* const reciprocals = op.workspace.template take<T>(order);
  const bool substitutes = std::is_same_v<T, double> && simt::has_clusters(context);
  const MatrixView<T> x = factor(context, op, substitutes);
  Inverse<T> inverse{context, x, order, triangle, elements, reciprocals};
  if constexpr (std::is_same_v<T, double>) {
    if (substitutes) inverse.by_substitution();
  }
  if (!substitutes) inverse.by_levels();
  context.stage("mirror");
  mirror_triangle(context, Uplo::lower, x, op.a);
}

GAUSSWEEP_INSTANTIATE(poinv_recursive)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
