/// trsv/pair_sweep: solves with all 2 x 2 triangles first, then substitutes two unknowns per launch.
///
/// The algorithm is "GPU Complex 1" of the course report "Algorithmic Techniques: Dense Lower Triangular
/// Solver". Row operations turn all 2 x 2 triangles on the diagonal into identities in parallel
/// (triangle_steps.cuh). The first two elements of the right-hand side are then the first two unknowns.
/// Launch i subtracts unknowns 2 i and 2 i + 1 times their columns from all rows below, which yields the next
/// two unknowns. This takes half the launches of column_sweep, plus one pass over the matrix. Works for any
/// n, both triangles and several right-hand sides (one row of thread blocks per right-hand side). If n is
/// odd, the last row is a 1 x 1 triangle.
///
/// Layout: column-major; the answer replaces b, and A is overwritten. Cost: n^2 operations per right-hand
/// side in n / 2 launches, after a pass that reads and writes the triangle with n^2 / 2 divisions. Workspace:
/// none. The diagonal is read first (stage "diagonal"). If it has a zero, info is the index, from 1, of the
/// first one, and the answer is not finite.
///
/// Error: let D be the block diagonal matrix of the 2 x 2 triangles on the diagonal of A. Then |b - A x| is
/// of the order n u |D| |D^-1 A| |x|. This combines two bounds of theorem 8.5 (Higham, "Accuracy and
/// Stability of Numerical Algorithms", 2nd ed.). One is for the systems with D, the other for the system with
/// D^-1 A. The combined bound may be larger than that of substitution, by a factor of up to the largest
/// condition number of these triangles.

#include "kernels/tables.hpp"
#include "kernels/trsv/triangle_steps.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Subtracts unknowns k and k + 1 times their columns from all rows below row k + 1.
template <class T>
__global__ void sweep_two_columns(LowerSystem<T> system, std::int64_t k) {
  const std::int64_t i = k + 2 + index_x();
  if (i >= system.n) return;
  T& right_hand_side = system.b(i, blockIdx.y);
  const T partial = std::fma(-system.l(i, k), system.b(k, blockIdx.y), right_hand_side);
  right_hand_side = std::fma(-system.l(i, k + 1), system.b(k + 1, blockIdx.y), partial);
}

}  // namespace

template <class T>
void trsv_pair_sweep(Context& context, Operands<T>& op, const Parameters&) {
  constexpr unsigned threads = 128;
  context.stage("diagonal");
  find_zero_diagonal(context, op.a, op.info);
  context.stage("triangles");  // the 2 x 2 triangles on the diagonal, one per pair of rows
  const LowerSystem<T> system(op);
  solve_all_pairs(context, system);
  context.stage("columns");
  for (std::int64_t k = 0; k + 2 < system.n; k += 2) {
    simt::launch(context, sweep_two_columns<T>,
                 dim3(blocks_of(system.n - k - 2, threads), static_cast<unsigned>(system.nrhs)),
                 dim3(threads), 0, system, k);
  }
}

GAUSSWEEP_INSTANTIATE(trsv_pair_sweep)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
