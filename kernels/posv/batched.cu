/// posv/batched: many small symmetric positive definite systems, factored and solved in one or two launches.
///
/// Source: developed for gaussweep. Small systems keep their rows in registers and are solved like those of
/// gesv/batched, but without pivoting: A = L D L^T, and D L^T serves as U. Sums that underflow would lose
/// accuracy. Up to order 16 and from 49 on, a system whose elements are all tiny is therefore solved again
/// after multiplication by a power of two. At other orders the code for a second solve would cost registers.
///
/// Larger systems with one right-hand side are factored in panels: A = L L^T. The right-hand side is
/// eliminated together with A. For several right-hand sides, potrf/batched computes the factors, and a second
/// launch substitutes with them, a few right-hand sides per warp (getrf/factored_solve.cuh).
///
/// Error: (A + E) x = b with |E| of the order n u |L| |L^T|, where L is the Cholesky factor (u: unit
/// roundoff; Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 10.4).
///
/// Layout: column-major, systems contiguous; the other triangle of A does not affect the answer, and X does
/// not overwrite B. Cost: 2/3 n^3 + 2 n^2 nrhs operations per system; with panels 1/3 n^3 + 2 n^2 nrhs.
/// Workspace: none. A pivot that is not positive gives info > 0. n <= 512.

#include "kernels/getrf/factored_solve.cuh"
#include "kernels/getrf/small_solve.cuh"
#include "kernels/potrf/small_cholesky.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void posv_batched(Context& context, Operands<T>& op, const Parameters& parameters) {
  const Shape& shape = op.shape;
  const bool in_registers =
      !batched::uses_panels(shape.n, parameters, batched::max_cholesky_rows_order(sizeof(T), shape.nrhs));
  if (in_registers || shape.nrhs == 1) return small::solve<T, /*Symmetric=*/true>(context, op, in_registers);
  small::factor_cholesky(context, op, parameters);
  context.stage("solve");
  factored::solve</*Symmetric=*/true>(context, factored::batch_of(op, /*pivot_rows=*/nullptr));
}

GAUSSWEEP_INSTANTIATE(posv_batched)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
