/// trsv/column_sweep: substitution with one launch per column and one thread per row.
///
/// The algorithm is "GPU Simple" of the course report "Algorithmic Techniques: Dense Lower Triangular
/// Solver". Launch k subtracts unknown k - 1 times its column from the right-hand side. The thread of row k
/// then divides by the diagonal. Unknowns can overwrite their right-hand sides, because only the thread that
/// writes b(k) reads it in launch k. Works for any n, both triangles and several right-hand sides (one row of
/// thread blocks per right-hand side).
///
/// Layout: column-major; the answer replaces b, and A is only read. Cost: n^2 operations per right-hand side
/// in n launches, whose overhead dominates up to some thousand unknowns. Workspace: none. The diagonal is
/// read first (stage "diagonal"). If it has a zero, info is the index, from 1, of the first one, and the
/// answer is not finite.
///
/// Error: |b - A x| <= g |A| |x| with g = n u / (1 - n u) (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., theorem 8.5).

#include "kernels/tables.hpp"
#include "kernels/trsv/triangle_steps.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Performs launch k for row k + index_x() of right-hand side blockIdx.y.
template <class T>
__global__ void sweep_column(LowerSystem<T> system, std::int64_t k) {
  const std::int64_t i = k + index_x();
  if (i >= system.n) return;
  T value = system.b(i, blockIdx.y);
  if (k > 0) value = std::fma(-system.l(i, k - 1), system.b(k - 1, blockIdx.y), value);
  if (i == k) value /= system.l(k, k);
  system.b(i, blockIdx.y) = value;
}

}  // namespace

template <class T>
void trsv_column_sweep(Context& context, Operands<T>& op, const Parameters&) {
  constexpr unsigned threads = 128;
  context.stage("diagonal");
  find_zero_diagonal(context, op.a, op.info);
  context.stage("columns");
  const LowerSystem<T> system(op);
  for (std::int64_t k = 0; k < system.n; ++k) {
    simt::launch(context, sweep_column<T>,
                 dim3(blocks_of(system.n - k, threads), static_cast<unsigned>(system.nrhs)), dim3(threads), 0,
                 system, k);
  }
}

GAUSSWEEP_INSTANTIATE(trsv_column_sweep)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
