/// gesv/lu_fixed_point: LU factorisation by fixed-point iteration, and two substitutions.
///
/// L. Čejka, ČVUT 2022, sections 1.3 and 1.3.2: factors A = L U once by fixed-point iteration without
/// pivoting (getrf/fixed_point_steps.cuh), with a unit diagonal in U. An iteration computes all elements of L
/// and U by Crout's formulas from those of the previous iteration. The method then solves L y = b and U x = y
/// column by column, one block per right-hand side.
///
/// Layout: column-major; the answer replaces b. Cost: 2/3 n^3 operations per iteration, about 20 iterations
/// for diagonally dominant A, 2 n at worst; 2 n^2 nrhs for the substitutions, with at most two barriers per
/// unknown. Workspace: the factors, and a second copy of them if the parameter `update` is `double_buffered`.
/// A must be strongly regular (no leading minor is 0): if the final L has a 0 on its diagonal, info > 0, and
/// the answer is not finite.
///
/// Error: |b - A x| is of the order n u |L| |U| |x| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.4), if the iteration ends because no element changes
/// (`change_tolerance: 0`): the factors then have the bits of Crout's method. A change_tolerance t > 0
/// changes each element of L U by up to n t (max|L| + max|U| + t). Without row exchanges |L| |U| may be far
/// larger than |A|.

#include "kernels/getrf/fixed_point_steps.cuh"
#include "kernels/tables.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Solves L y = b and U x = y in place for right-hand side blockIdx.x. `lu` has L with its diagonal, and U
/// without its unit diagonal. The threads split the rows.
template <class T>
__global__ void substitute_columns(MatrixView<T> lu, MatrixView<T> b) {
  T* x = b.data + blockIdx.x * b.ld;
  const std::int64_t n = lu.rows;
  for (std::int64_t k = 0; k < n; ++k) {
    const T* column = lu.data + k * lu.ld;
    const T unknown = x[k] / column[k];
    __syncthreads();  // x[k] is overwritten below
    if (threadIdx.x == 0) x[k] = unknown;
    for (std::int64_t i = k + 1 + threadIdx.x; i < n; i += blockDim.x) {
      x[i] = std::fma(-unknown, column[i], x[i]);
    }
    __syncthreads();
  }
  for (std::int64_t k = n - 1; k > 0; --k) {
    const T* column = lu.data + k * lu.ld;
    const T unknown = x[k];
    for (std::int64_t i = threadIdx.x; i < k; i += blockDim.x) x[i] = std::fma(-unknown, column[i], x[i]);
    __syncthreads();
  }
}

}  // namespace

template <class T>
void gesv_lu_fixed_point(Context& context, Operands<T>& op, const Parameters& parameters) {
  const std::int64_t n = op.shape.n;
  const MatrixView<T> lu{op.workspace.template take<T>(n * n), n, n, n};
  fixed_point_factorise(context, op, parameters, lu);
  context.stage("diagonal");
  find_zero_diagonal(context, lu, op.info);
  context.stage("substitute");
  const auto threads = static_cast<unsigned>(n < 1024 ? n : 1024);
  simt::launch(context, substitute_columns<T>, dim3(static_cast<unsigned>(op.shape.nrhs)), dim3(threads), 0,
               lu, op.b);
}

GAUSSWEEP_INSTANTIATE(gesv_lu_fixed_point)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
