/// gesv/gauss_cyclic_halving: row-cyclic Gaussian elimination with half the blocks in each stage.
///
/// F. Fuhrmann, TU Wien 2017, section 4.3.2 and appendix ("impl 0"): the rows are distributed cyclically over
/// the blocks, and each block eliminates within its own stripe, independently of the others. The next stage
/// does the same with half the blocks (rounded up), until one block has made the matrix triangular. A factor
/// of 0 means that an earlier stage eliminated the rest of the stripe.
///
/// Layout: [A | B] row-major, overwritten; X is a separate column-major matrix. Cost: about n^3 / 2
/// multiply-adds in ceil(log2(blocks)) + 1 launches. Workspace: one int; for a pipelined back substitution
/// also n + 1 ints, or 256 bytes per unknown for the thesis's locks. Every element of A and every leading
/// minor of each stripe must be nonzero. With more than one block the divisors are off-diagonal elements:
/// small ones make the answer unstable. info > 0: the divisor of row `info` was 0; it is the smallest such
/// row in the first stage that failed. info < 0: the pipelined back substitution timed out, which is an error
/// of the run.
///
/// Error: stage s computes A_s = L_s A_(s+1), where L_s has its divisors and multipliers. Therefore |b - A x|
/// is of the order n u |L_1| |L_2| ... |U| |x| (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd
/// ed., theorems 9.3 and 9.4, applied to each stripe and stage). With one block this is elimination without
/// row exchanges. With more blocks the product may be far larger than |A|, because the divisors are
/// off-diagonal elements.

#include "kernels/gesv/gauss_steps.cuh"
#include "kernels/gesv/gauss_substitution.cuh"
#include "kernels/gesv/row_addition.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void gesv_gauss_cyclic_halving(Context& context, Operands<T>& op, const Parameters& parameters) {
  const int threads = thread_count(parameters, op.shape.n);
  const auto max_blocks = static_cast<int>(parameters.integer("blocks"));
  prepare(context, op, parameters, threads);
  context.stage("eliminate");
  run_stages(context, op, max_blocks, halved, [&](int blocks, StageInfo info) {
    eliminate(context, op, blocks, threads, ZeroFactor::ends_stripe, info);
  });
  context.stage("back_substitute");
  back_substitute(context, op, substitution(parameters), max_blocks, threads);
}

GAUSSWEEP_INSTANTIATE(gesv_gauss_cyclic_halving)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
