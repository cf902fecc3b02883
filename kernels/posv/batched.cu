/// posv/batched: many small symmetric positive definite systems, factored and solved in one launch.
///
/// Source: gaussweep. As gesv/batched (getrf/small_rows.cuh), without the search for pivots: A = L D L^T,
/// with D L^T as U. Layout: column-major, systems side by side, of A the triangle `uplo` is read; the answer
/// is a matrix of its own. Cost: 2/3 n^3 + 2 n^2 nrhs operations a system, twice Cholesky's. Workspace: none.
/// A pivot that is not positive gives info > 0. n <= 128.

#include "kernels/getrf/small_solve.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void posv_batched(Context& context, Operands<T>& op, const Parameters&) {
  small::solve<T, true>(context, op);
}

GAUSSWEEP_INSTANTIATE(posv_batched)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
