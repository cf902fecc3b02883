/// gesv/gauss_cyclic_halving: row-cyclic Gaussian elimination, the number of blocks halved from stage to
/// stage.
///
/// F. Fuhrmann, TU Wien 2017, section 4.3.2 and appendix ("impl 0"): the rows are dealt to the blocks in
/// turn, each block eliminates within its own stripe, without looking at the others; the next stage does the
/// same with half as many blocks (rounded up), until one block has made the matrix triangular. A factor of 0
/// says that the rest of the stripe was done in an earlier stage.
///
/// Layout: [A | B] in rows, used up; the answer is a matrix of its own, in columns. Cost: about n^3 / 2
/// multiply-adds in ceil(log2(blocks)) + 1 launches. Workspace: one int; where the back substitution is
/// pipelined, n + 1 more, or 256 bytes an unknown for the paper's locks. Every element and every leading
/// minor of each stripe must be nonzero: with more than one block the divisors are off-diagonal elements, and
/// the answer is as unstable as they are small. info > 0: row info was to be normalised at a 0, the first
/// such row of the first stage that has any. info < 0: the pipelined back substitution gave up waiting, which
/// is an error of the run.

#include "kernels/gesv/gauss_steps.cuh"
#include "kernels/gesv/gauss_substitution.cuh"
#include "kernels/gesv/row_addition.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void gesv_gauss_cyclic_halving(Context& context, Operands<T>& op, const Parameters& parameters) {
  const int threads = thread_count(parameters, op.shape.n);
  const auto most = static_cast<int>(parameters.integer("blocks"));
  prepare(context, op, parameters, threads);
  context.stage("eliminate");
  run_stages(context, op, most, half_of, [&](int blocks, StageInfo info) {
    eliminate(context, op, blocks, threads, ZeroFactor::ends_stripe, info);
  });
  context.stage("back_substitute");
  back_substitute(context, op, substitution(parameters), most, threads);
}

GAUSSWEEP_INSTANTIATE(gesv_gauss_cyclic_halving)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
