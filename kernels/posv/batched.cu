/// posv/batched: many small symmetric positive definite systems, factored and solved in one launch.
///
/// Source: gaussweep. As gesv/batched (getrf/small_rows.cuh), without the search for pivots: A = L D L^T,
/// with D L^T as U; by panels Cholesky. There several right-hand sides in double are multiplied by inverses
/// of 8 x 8 triangles, or substituted step by step if an inverse would not be accurate. Error: (A + E) x = b,
/// where |E| is of the order n u |L| |L^T| with Cholesky's L (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., theorem 10.4). Layout: column-major, systems side by side, of A the triangle `uplo`
/// is read; the answer is a matrix of its own. Cost: 2/3 n^3 + 2 n^2 nrhs operations a system, twice
/// Cholesky's, by panels half of it. Workspace: none. A pivot that is not positive gives info > 0. n <= 512.

#include "kernels/getrf/small_solve.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void posv_batched(Context& context, Operands<T>& op, const Parameters& parameters) {
  small::solve<T, true>(context, op, parameters);
}

GAUSSWEEP_INSTANTIATE(posv_batched)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
