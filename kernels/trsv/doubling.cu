/// trsv/doubling: row operations turn 2 x 2 triangles into identities, then triangles of order 4, 8, …
///
/// The algorithm is "GPU Complex 2" of the course report "Algorithmic Techniques: Dense Lower Triangular
/// Solver". The first step turns the 2 x 2 triangles on the diagonal into identities (triangle_steps.cuh).
/// One launch per order then does the same with the triangles of order 4, 8, … (doubling_steps.cuh). A thread
/// keeps one element's sum in a register and reads all operands from global memory. Works for any n (the last
/// triangle may be smaller), both triangles and several right-hand sides.
///
/// Layout: column-major; the answer replaces b, and A is overwritten. Cost: log2(n) steps, n^3 / 6 operations
/// and n^3 / 6 loads. Substitution takes only n^2 operations; in measurements the parallelism does not
/// compensate for the additional operations. Workspace: none. The diagonal is read first (stage "diagonal").
/// If it has a zero, info is the index, from 1, of the first one, and the answer is not finite.
///
/// Error: let D contain the 2 x 2 triangles and M_s the multipliers of step s, which multiplies by the
/// inverse of M_s. Then |b - A x| is of the order n u |D| |M_1| |M_2| ... |x| (Higham, "Accuracy and
/// Stability of Numerical Algorithms", 2nd ed., theorem 8.5, for each step). The product may exceed |A| by
/// the condition number of the blocks.

#include "kernels/tables.hpp"
#include "kernels/trsv/doubling_steps.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void trsv_doubling(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("diagonal");
  find_zero_diagonal(context, op.a, op.info);
  context.stage("triangles");
  const LowerSystem<T> system(op);
  solve_all_pairs(context, system);
  context.stage("row_operations");
  for (std::int64_t h = 2; h < system.n; h *= 2) {
    launch_row_operations(context, system, h, operate_on_rows<T>);
  }
}

GAUSSWEEP_INSTANTIATE(trsv_doubling)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
