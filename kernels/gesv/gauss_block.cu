/// gesv/gauss_block: Gaussian elimination without pivoting by the threads of one block.
///
/// F. Fuhrmann, TU Wien 2017, section 4.3.1: the threads of the only block share each row operation; a row
/// whose factor is 0 is skipped. Then back substitution by sum reduction in the same block. Of a batch each
/// system has a block.
///
/// Layout: [A | B] in rows, used up; the answer is a matrix of its own, in columns. Cost: n^3 / 2
/// multiply-adds (the paper's choice to subtract over all columns from 0), two barriers a row pair, one
/// multiprocessor. Workspace: none. Needs a strongly regular matrix: a leading minor that is 0 gives info >
/// 0, a small one an inaccurate answer.

#include "kernels/gesv/gauss_steps.cuh"
#include "kernels/gesv/gauss_substitution.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void gesv_gauss_block(Context& context, Operands<T>& op, const Parameters& parameters) {
  const int threads = thread_count(parameters, op.shape.n);
  context.stage("eliminate");
  eliminate(context, op, 1, threads, ZeroFactor::skips_row, {nullptr, op.info});
  context.stage("back_substitute");
  back_substitute(context, op, Substitution::reduction, 1, threads);
}

GAUSSWEEP_INSTANTIATE(gesv_gauss_block)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
