/// gesv/gauss_cyclic_decrement: row-cyclic Gaussian elimination with one block fewer in each stage.
///
/// F. Fuhrmann, TU Wien 2017, section 4.3.2 and appendix ("impl 1"): like gesv/gauss_cyclic_halving, but the
/// stages run with blocks, blocks - 1, …, 1 blocks.
///
/// Layout: [A | B] row-major, overwritten; X is a separate column-major matrix. Cost: about n^3 / 2
/// multiply-adds in `blocks` launches. Workspace, requirements on A, failures and error bound: as for
/// gesv/gauss_cyclic_halving.

#include "kernels/gesv/gauss_steps.cuh"
#include "kernels/gesv/gauss_substitution.cuh"
#include "kernels/gesv/row_addition.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void gesv_gauss_cyclic_decrement(Context& context, Operands<T>& op, const Parameters& parameters) {
  const int threads = thread_count(parameters, op.shape.n);
  const auto max_blocks = static_cast<int>(parameters.integer("blocks"));
  prepare(context, op, parameters, threads);
  context.stage("eliminate");
  run_stages(context, op, max_blocks, decremented, [&](int blocks, StageInfo info) {
    eliminate(context, op, blocks, threads, ZeroFactor::ends_stripe, info);
  });
  context.stage("back_substitute");
  back_substitute(context, op, substitution(parameters), max_blocks, threads);
}

GAUSSWEEP_INSTANTIATE(gesv_gauss_cyclic_decrement)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
