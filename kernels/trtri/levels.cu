/// trtri/levels: the inverse of a triangular matrix level by level, all pairs of a level at once.
///
/// The levels are levels.cuh's: triangles on the diagonal, of order 96 or less, are inverted in one launch.
/// Then pairs of inverses are joined, twice as large from level to level; large halves by cuBLAS's products
/// where there are no tiles of our own for them.
///
/// Error: a block on the diagonal is inverted by substitution if its condition is above 16. Two inverses X
/// and Y are joined by -Y (L X) only if L X has small elements (diagonal_blocks.cuh, trusted_product).
/// Otherwise the whole inverse comes by substitution (whole_substitution.cuh), which takes as long as
/// cuSOLVER. Then |A X - I| <= g |A| |X| with g = n u / (1 - n u) (Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., section 14.2). Trusted products multiply that by a small factor, 16 at
/// most on the diagonal.
///
/// Layout: column-major; A stays, the inverse is a matrix of its own, with zeros in the other triangle.
/// Cost: 1/3 n^3 operations and, by strips, up to a quarter more for zeros on the diagonal.
/// Workspace: n^2 / 4 + 1 elements.
///
/// A 0 on the diagonal gives info > 0, and the answer is then not finite. Written for compute capability 9.0;
/// needs 8.0 to be fast.

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/trtri/levels.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void trtri_levels(Context& context, Operands<T>& op, const Parameters&) {
  const std::int64_t n = op.shape.n;
  T* const products = op.workspace.template take<T>(levels::workspace_elements(n));
  const levels::Triangle<T> a{op.a.data, op.a.ld, static_cast<int>(n), op.shape.uplo == Uplo::lower, false};
  levels::TriangleInverse<T>(context, a, n, products).invert(op.x.data, op.x.ld, op.info);
}

GAUSSWEEP_INSTANTIATE(trtri_levels)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
