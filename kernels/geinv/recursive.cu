/// geinv/recursive: the inverse by LU, the inverse of L, and a solve with U for all columns together.
///
/// getrf/recursive_lu.cuh computes LU, trtri/levels.cuh computes the inverse of L, and cuBLAS computes nearly
/// all other products. X = U^-1 L^-1 P is computed by solving with U. The elements of a row of U divided by
/// the row's pivot may overflow although X does not. Columns of X that are not finite are therefore computed
/// again, 32 at a time, by substitution with scaled rows of U.
///
/// Error: |A X - I| is of the order n u |L| |U| |X| (u: unit roundoff) for any condition number of U. Solving
/// X L = U^-1 instead has no such bound (J. Du Croz, N. Higham, Stability of methods for matrix inversion,
/// IMA J. Numer. Anal. 12, 1992).
///
/// Layout: column-major, in place. Cost: 2 n^3 operations. Workspace: 27 n ints, 133 n elements, an n x n
/// matrix, and the larger of n^2 / 4 and 256 n elements. If n is no multiple of 16, an aligned copy of A is
/// added, because products of aligned columns are faster. A pivot that is exactly 0 gives info > 0, and the
/// answer is then not finite. n <= 65536. Needs compute capability 9.0.

#include "kernels/geinv/recursive_inverse.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void geinv_recursive(Context& context, Operands<T>& op, const Parameters&) {
  inverse::invert<T, lu::NoProducts>(context, op, /*products=*/nullptr);
}

GAUSSWEEP_INSTANTIATE(geinv_recursive)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
