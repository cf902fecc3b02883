/// trtri/levels: the inverse of a triangular matrix, level by level; all pairs of a level are processed
/// together.
///
/// One launch inverts the triangles on the diagonal, of order 96 or less. Then each level joins pairs of
/// inverses to inverses of twice the order (levels.cuh). For inverses of large order cuBLAS computes the
/// products if large_tiles.cuh does not support the GPU or the precision.
///
/// Error: a block on the diagonal is inverted by substitution if its condition number is above 16. Two
/// inverses X and Y are joined by -Y (L X) only if L X has small elements (diagonal_blocks.cuh, max_product).
/// Otherwise the whole inverse is computed by substitution (whole_substitution.cuh), which takes about as
/// long as cuSOLVER in double, and 1.4 times as long in float. Substitution has |A X - I| <= g |A| |X| with
/// g = n u / (1 - n u) (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 14.2).
/// Products of inverses increase this bound by a small factor, at most 16 on the diagonal.
///
/// Layout: column-major; A is not changed, X is a separate matrix with zeros in the other triangle. Cost: 1/3
/// n^3 operations; cuBLAS's products take up to a quarter more, because they multiply zeros next to the
/// diagonal. Workspace: n^2 / 4 + 1 elements.
///
/// A 0 on the diagonal gives info > 0, and the answer is then not finite. Written for compute capability 9.0;
/// slow below 8.0.

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/trtri/levels.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void trtri_levels(Context& context, Operands<T>& op, const Parameters&) {
  const std::int64_t n = op.shape.n;
  T* const products = op.workspace.template take<T>(levels::workspace_elements(n));
  const levels::Triangle<T> a{op.a.data, op.a.ld, static_cast<int>(n), op.shape.uplo == Uplo::lower,
                              /*unit=*/false};
  levels::TriangleInverse<T>(context, a, n, products).invert(op.x.data, op.x.ld, op.info);
}

GAUSSWEEP_INSTANTIATE(trtri_levels)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
