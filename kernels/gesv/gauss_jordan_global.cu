/// gesv/gauss_jordan_global: Gauss-Jordan elimination with partial pivoting, from global memory.
///
/// X. Xia and J. C. Lee, "Modified CUDA Gaussian Elimination" (gauss_jordan_steps.cuh): in every iteration a
/// thread an element, each of which loads its multiplier and its element of the pivot row itself.
///
/// Layout: [A | B] in rows; the answer replaces B. Cost: n^3 / 2 multiply-adds, n^3 elements moved (twice of
/// both where `grid` is full), and per column a transfer to the host, for which the device waits (the paper's
/// choice). Workspace: n elements. Needs a nonsingular matrix: a column without a nonzero pivot gives info >
/// 0, and the method ends there. The residual grows with the condition of the matrix, whatever the pivots: on
/// a Hilbert or Cauchy matrix the answer fails where elimination with back substitution passes.

#include <string>

#include "kernels/gesv/gauss_jordan_steps.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

template <class T>
__global__ void eliminate_from_global(Elimination<T> e) {
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  const std::int64_t c = e.first + static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e.has(j, c)) e.subtract(j, c, e.multipliers[j], e.a.data[e.i * e.a.ld + c]);
}

}  // namespace

template <class T>
void gesv_gauss_jordan_global(Context& context, Operands<T>& op, const Parameters& parameters) {
  gauss_jordan<T>(context, op, parameters, eliminate_from_global<T>, std::stoi(parameters.choice("tile")));
}

GAUSSWEEP_INSTANTIATE(gesv_gauss_jordan_global)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
