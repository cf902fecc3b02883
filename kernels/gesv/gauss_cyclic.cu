/// gesv/gauss_cyclic_halving and gesv/gauss_cyclic_decrement: row-cyclic Gaussian elimination in stages with
/// ever fewer blocks.
///
/// F. Fuhrmann, TU Wien 2017, section 4.3.2 and appendix ("impl 0" and "impl 1"): the rows are distributed
/// cyclically over the blocks. Each block eliminates within its own rows (its stripe), independently of the
/// other blocks. The next stage does the same with half the blocks, rounded up (method `halving`), or with
/// one block fewer (method `decrement`). In the last stage one block makes the matrix triangular. If an
/// element in the pivot column is already 0, an earlier stage has eliminated it and the elements below it in
/// the stripe.
///
/// Layout: [A | B] row-major, overwritten; X is a separate column-major matrix. Cost: about n^3 / 2
/// multiply-adds in ceil(log2(blocks)) + 1 launches (halving) or `blocks` launches (decrement). Workspace:
/// one int; for a pipelined back substitution also n + 1 ints, or 256 bytes per unknown for the locks of the
/// thesis. Every element of A and every leading minor of each stripe must be nonzero. With more than one
/// block most pivots are off-diagonal elements: small pivots make the answer unstable. info > 0: the pivot of
/// row `info` (from 1) was 0; it is the smallest such row in the first stage that failed. info < 0: the
/// pipelined back substitution timed out, and the run counts as an error.
///
/// Error: stage s turns A_s into A_(s+1) with A_s = L_s A_(s+1), where L_s holds the stage's pivots and
/// multipliers. Therefore |b - A x| is of the order n u |L_1| |L_2| ... |U| |x| (u: unit roundoff; Higham,
/// "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorems 9.3 and 9.4, applied to each stripe
/// and stage). With one block this is elimination without row exchanges. With more blocks |L_1| |L_2| ... |U|
/// may be far larger than |A|, because most pivots are off-diagonal elements.

#include "kernels/gesv/gauss_steps.cuh"
#include "kernels/gesv/gauss_substitution.cuh"
#include "kernels/gesv/row_addition.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Runs one of the two methods. @param next returns the number of blocks in the next stage
template <class T>
void solve_cyclically(Context& context, Operands<T>& op, const Parameters& parameters, int (*next)(int)) {
  const int threads = thread_count(parameters, op.shape.n);
  const auto max_blocks = static_cast<int>(parameters.integer("blocks"));
  prepare(context, op, parameters, threads);
  context.stage("eliminate");
  run_stages(context, op, max_blocks, next, [&](int blocks, StageInfo info) {
    eliminate(context, op, blocks, threads, ZeroMultiplier::ends_stripe, info);
  });
  context.stage("back_substitute");
  back_substitute(context, op, substitution(parameters), max_blocks, threads);
}

}  // namespace

template <class T>
void gesv_gauss_cyclic_halving(Context& context, Operands<T>& op, const Parameters& parameters) {
  solve_cyclically(context, op, parameters, halved);
}
template <class T>
void gesv_gauss_cyclic_decrement(Context& context, Operands<T>& op, const Parameters& parameters) {
  solve_cyclically(context, op, parameters, decremented);
}

GAUSSWEEP_INSTANTIATE(gesv_gauss_cyclic_halving)
GAUSSWEEP_INSTANTIATE(gesv_gauss_cyclic_decrement)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
