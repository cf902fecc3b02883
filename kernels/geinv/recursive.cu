/// geinv/recursive: the inverse by LU, the inverse of L, and a solve with U for all columns together.
///
/// LU is getrf/recursive_lu.cuh's, the inverse of L trtri/levels.cuh's, and nearly all of the rest are cuBLAS
/// products. X = U^-1 L^-1 P is computed by solving with U. Then |A X - I| is of the size of u |L| |U| |X|,
/// whatever the condition of U; solving X L = U^-1 has no such bound (J. Du Croz, N. Higham, Stability of
/// methods for matrix inversion, IMA J. Numer. Anal. 12, 1992). Layout: column-major, in place. Cost: 2 n^3
/// operations. Workspace: 27 n ints, 133 n elements and 5/4 matrices (at least n x 256 elements in place of
/// the quarter). If n is no multiple of 16, it is 9/4 matrices, because products are faster at a multiple. A
/// pivot that is exactly 0 gives info > 0, and the answer is then not finite. n <= 65536. Needs compute
/// capability 9.0.

#include "kernels/geinv/recursive_inverse.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void geinv_recursive(Context& context, Operands<T>& op, const Parameters&) {
  inverse::invert<T, lu::NoProducts>(context, op, nullptr);
}

GAUSSWEEP_INSTANTIATE(geinv_recursive)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
