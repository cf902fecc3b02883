/// trsv/pair_sweep: 2 x 2 triangles solved at once, then two columns a launch ("GPU Complex 1").
///
/// After the course report "Algorithmic Techniques: Dense Lower Triangular Solver": row operations turn every
/// 2 x 2 triangle on the diagonal into an identity (triangle_steps.cuh), all of them in parallel. The first
/// two right-hand sides then are unknowns, and launch i subtracts unknowns 2 i and 2 i + 1 times their
/// columns from all rows below, which makes the next two right-hand sides unknowns. Half as many launches as
/// column_sweep, for a pass over the matrix before them. Here for any n (the last row of an odd n is a
/// triangle of its own), both triangles and several right-hand sides (a row of blocks each).
///
/// Layout: column-major; the answer replaces b, and A is overwritten. Cost: n^2 operations a right-hand side
/// in n / 2 launches, and before them the triangle read and written once with n^2 / 2 divisions. Workspace:
/// none. Needs a triangular matrix without a 0 on the diagonal: the diagonal is read first (stage
/// "diagonal"), the first 0 from the top gives info > 0, and the answer is then not finite.

#include "kernels/tables.hpp"
#include "kernels/trsv/triangle_steps.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Columns x and x + 1 from all rows below row x + 1.
template <class T>
__global__ void sweep_two_columns(LowerSystem<T> s, std::int64_t x) {
  const std::int64_t y = x + 2 + index_x();
  if (y >= s.n) return;
  T& right_hand_side = s.b(y, blockIdx.y);
  const T partly = std::fma(-s.l(y, x), s.b(x, blockIdx.y), right_hand_side);
  right_hand_side = std::fma(-s.l(y, x + 1), s.b(x + 1, blockIdx.y), partly);
}

}  // namespace

template <class T>
void trsv_pair_sweep(Context& context, Operands<T>& op, const Parameters&) {
  constexpr unsigned threads = 128;
  context.stage("diagonal");
  find_zero_diagonal(context, op.a, op.info);
  context.stage("triangles");
  const LowerSystem<T> s(op);
  solve_all_pairs(context, s);
  context.stage("columns");
  for (std::int64_t x = 0; x + 2 < s.n; x += 2) {
    simt::launch(context, sweep_two_columns<T>,
                 dim3(blocks_of(s.n - x - 2, threads), static_cast<unsigned>(s.nrhs)), dim3(threads), 0, s,
                 x);
  }
}

GAUSSWEEP_INSTANTIATE(trsv_pair_sweep)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
