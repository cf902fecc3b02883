/// gesv/batched: many small systems, LU with partial pivoting and both substitutions.
///
/// Source: developed for gaussweep. A group of threads within a warp, or a whole block, solves one system.
/// Each thread keeps one row of A and of up to four right-hand sides in registers (getrf/small_rows.cuh). A
/// is read once per four right-hand sides, and only the answer is written. If the rows do not fit in
/// registers, a thread block solves one system in panels of 32 columns (getrf/panel_factorisation.cuh) and
/// overwrites A. With rows in registers, intermediate results may overflow although X does not. Up to order
/// 16 and from order 49 on, a system whose answer is not finite is therefore solved again with scaled rows.
/// At other orders the code for a second solve would cost registers even if it is not run.
///
/// Larger systems with several right-hand sides need two launches: getrf/batched overwrites A by L and U, and
/// the second launch solves with them, a few right-hand sides per warp (getrf/factored_solve.cuh).
///
/// Layout: column-major, systems contiguous; X does not overwrite B. Cost: 2/3 n^3 + 2 n^2 nrhs operations
/// per system; with rows in registers, A is factored again for every four right-hand sides. Workspace: with
/// two launches one index per row. A pivot that is exactly 0 gives info > 0, and the answer is then not
/// finite. n <= 512.
///
/// Error: |b - A x| is of the order n u |L| |U| |x| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.4). With partial pivoting the norm of |L| |U| rarely exceeds n
/// times that of A.

#include "kernels/getrf/factored_solve.cuh"
#include "kernels/getrf/small_factor.cuh"
#include "kernels/getrf/small_solve.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void gesv_batched(Context& context, Operands<T>& op, const Parameters& parameters) {
  const Shape& shape = op.shape;
  const bool in_registers = batched::solves_in_registers(shape, parameters, sizeof(T));
  if (in_registers || shape.nrhs == 1) return small::solve<T, /*Symmetric=*/false>(context, op, in_registers);
  int* const pivot_rows = op.workspace.template take<int>(shape.n * shape.batch);
  small::factor(context, op, {/*pivots=*/nullptr, pivot_rows}, parameters);
  context.stage("solve");
  factored::solve</*Symmetric=*/false>(context, factored::batch_of(op, pivot_rows));
}

GAUSSWEEP_INSTANTIATE(gesv_batched)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
