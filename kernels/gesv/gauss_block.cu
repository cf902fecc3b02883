/// gesv/gauss_block: Gaussian elimination without pivoting by the threads of one block.
///
/// F. Fuhrmann, TU Wien 2017, section 4.3.1: the threads of one block split each row operation; rows whose
/// element in the pivot column is 0 are skipped. One block then substitutes back with sum reductions. A batch
/// uses one block per system.
///
/// Layout: [A | B] row-major, overwritten; X is a separate column-major matrix. Cost: n^3 / 2 multiply-adds
/// (the thesis subtracts in all columns from 0, not only from the pivot on), one barrier per row update, one
/// multiprocessor. Workspace: none. A must be strongly regular: a zero leading minor gives info > 0, and a
/// small one gives an inaccurate answer.
///
/// Error: |b - A x| is of the order n u |L| |U| |x| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.4). Without row exchanges |L| |U| may be far larger than |A|.

#include "kernels/gesv/gauss_steps.cuh"
#include "kernels/gesv/gauss_substitution.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void gesv_gauss_block(Context& context, Operands<T>& op, const Parameters& parameters) {
  const int threads = thread_count(parameters, op.shape.n);
  context.stage("eliminate");
  eliminate(context, op, /*blocks=*/1, threads, ZeroMultiplier::skips_row, {/*previous=*/nullptr, op.info});
  context.stage("back_substitute");
  back_substitute(context, op, Substitution::reduction, /*blocks=*/1, threads);
}

GAUSSWEEP_INSTANTIATE(gesv_gauss_block)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
