/// gesv/gauss_jordan_global: Gauss-Jordan elimination with partial pivoting, from global memory.
///
/// X. Xia and J. C. Lee, "Modified CUDA Gaussian Elimination": gauss_jordan_steps.cuh has the iteration over
/// the columns. Each iteration has one thread per element, which loads its multiplier and its element of the
/// pivot row from global memory.
///
/// Layout: [A | B] row-major; the answer replaces B. Cost: n^3 / 2 multiply-adds, n^3 elements read or
/// written (both doubled if the parameter `grid` is `full`, with which every iteration updates all columns).
/// As in the paper, each column also costs one synchronous transfer to the host. Workspace: n elements. A
/// must be nonsingular: a column without a nonzero pivot gives info > 0 and ends the method. The residual
/// grows with the condition number of A for any choice of pivots: this method fails for Hilbert and Cauchy
/// matrices, which elimination with back substitution solves.
///
/// Error: |b - A x| <= 8 n u |L| |U| |U^-1| |U| |x| to first order in the unit roundoff u (Higham, "Accuracy
/// and Stability of Numerical Algorithms", 2nd ed., theorem 14.5).

#include <string>

#include "kernels/gesv/gauss_jordan_steps.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

template <class T>
__global__ void eliminate_from_global(Elimination<T> e) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  const std::int64_t j = e.grid_begin + static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e.updates(i, j)) e.subtract(i, j, e.multipliers[i], e.a.data[e.k * e.a.ld + j]);
}

}  // namespace

template <class T>
void gesv_gauss_jordan_global(Context& context, Operands<T>& op, const Parameters& parameters) {
  gauss_jordan<T>(context, op, parameters, eliminate_from_global<T>, std::stoi(parameters.choice("tile")));
}

GAUSSWEEP_INSTANTIATE(gesv_gauss_jordan_global)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
