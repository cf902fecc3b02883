/// poinv/gauss_seidel: the inverse by Gauss-Seidel iteration for A x = e, where e is a column of the
/// identity.
///
/// J. Soriano, IIT 2011, section 5.3, uses this method in comparisons, with code of other authors and without
/// a description. The parallel algorithm here was therefore designed for gaussweep. A sweep solves each
/// equation for its unknown, one after another, with the newest values of all other unknowns. The n columns
/// of the inverse are independent. A sweep is one launch, in which each thread block owns 16 columns. A block
/// proceeds in steps of 16 rows. First it computes the products with all other rows, in tiles in shared
/// memory, one thread per element. Then it solves the 16 equations in order.
///
/// The residual of an equation just before it is solved needs no extra work. After every sweep the host reads
/// the largest of these residuals and adds it to the history in Context::report. The iteration ends as
/// converged if this value is at most the parameter `residual_tolerance` (0: 32 unit roundoffs), and as
/// diverged if the value is not finite. It also ends if more than 10 consecutive sweeps have not reduced the
/// value (stagnated), or after `max_iterations` sweeps. In these two cases the iteration counts as diverged
/// if the value is larger than after the first sweep.
///
/// Layout: column-major; A is not changed; the inverse is a separate matrix and starts as 0. Cost: 2 n^3
/// operations per sweep; the number of sweeps grows with the condition number. Workspace: one 64-bit word for
/// the largest residual. Converges for symmetric positive definite and for diagonally dominant matrices. A 0
/// on the diagonal gives info > 0.
///
/// Error: after convergence each element of A X - I, taken before its unknown changes for the last time, is
/// at most `residual_tolerance` plus rounding errors of the order n u |A| |X| (u: unit roundoff; Higham,
/// "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 17.2).

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

constexpr unsigned tile_size = 16;
constexpr std::int64_t max_stalled_sweeps = 10;

/// Returns the larger of two residuals; NaN is larger than any number. @pre neither is negative
__device__ __forceinline__ double larger_residual(double a, double b) {
  return a > b || a != a ? a : b;
}

/// Runs one sweep over all rows for the 16 columns of X that this thread block owns. Raises *residual to the
/// bits of the block's largest residual if these are larger. The bits of nonnegative numbers are ordered like
/// the numbers; NaN is the largest.
template <class T>
__global__ void __launch_bounds__(tile_size* tile_size)
    sweep(MatrixView<T> a, MatrixView<T> x, unsigned long long* residual) {
  __shared__ T a_tile[tile_size][tile_size];      // a_tile[k][i]
  __shared__ T x_tile[tile_size][tile_size + 1];  // x_tile[j][k]
  __shared__ unsigned long long block_residual;
  const unsigned tx = threadIdx.x;
  const unsigned ty = threadIdx.y;
  const std::int64_t n = a.rows;
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * tile_size + ty;
  const bool column_inside = j < n;
  if (tx == 0 && ty == 0) block_residual = 0;

  const auto load = [&](std::int64_t i0, std::int64_t k0) {
    a_tile[ty][tx] = i0 + tx < n && k0 + ty < n ? a.data[i0 + tx + (k0 + ty) * a.ld] : T(0);
    x_tile[ty][tx] = k0 + tx < n && column_inside ? x.data[k0 + tx + j * x.ld] : T(0);
  };
  double largest = 0;
  for (std::int64_t i0 = 0; i0 < n; i0 += tile_size) {
    const std::int64_t i = i0 + tx;
    // Element (i, j) of the identity minus the products of row i with the other unknowns of column j.
    T remainder = i == j ? T(1) : T(0);
    for (std::int64_t k0 = 0; k0 < n; k0 += tile_size) {
      if (k0 == i0) continue;
      load(i0, k0);
      __syncthreads();
      for (unsigned k = 0; k < tile_size; ++k) remainder = std::fma(-a_tile[k][tx], x_tile[ty][k], remainder);
      __syncthreads();  // all threads have read the tiles before they are overwritten
    }
    load(i0, i0);
    __syncthreads();
    for (unsigned k = tx + 1; k < tile_size; ++k) {  // old values of the unknowns that are not solved yet
      remainder = std::fma(-a_tile[k][tx], x_tile[ty][k], remainder);
    }
    __syncthreads();
    const auto tile_rows = static_cast<unsigned>(n - i0 < tile_size ? n - i0 : tile_size);
    for (unsigned k = 0; k < tile_rows; ++k) {
      if (tx == k) {
        const T diagonal = a_tile[k][k];
        if (column_inside) {
          const T residual_before = std::fma(-diagonal, x_tile[ty][k], remainder);
          largest = larger_residual(largest, std::fabs(static_cast<double>(residual_before)));
        }
        x_tile[ty][k] = remainder / diagonal;
      }
      __syncthreads();
      if (tx > k) remainder = std::fma(-a_tile[k][tx], x_tile[ty][k], remainder);
    }
    if (i < n && column_inside) x.data[i + j * x.ld] = x_tile[ty][tx];
    __syncthreads();  // makes the stored values visible to this block's next loads
  }
  // Infinity and every NaN become one positive NaN, whose bits are larger than those of all numbers.
  if (!(largest <= std::numeric_limits<double>::max())) largest = std::numeric_limits<double>::quiet_NaN();
  unsigned long long bits = 0;
  memcpy(&bits, &largest, sizeof(bits));
  atomicMax(&block_residual, bits);
  __syncthreads();
  if (tx == 0 && ty == 0) atomicMax(residual, block_residual);
}

/// Returns how the iteration ends, or Convergence::none if it continues.
/// @param best_sweep the sweep, from 1, with the smallest residual so far
Convergence ending(const IterationReport& report, std::int64_t best_sweep, double tolerance,
                   std::int64_t max_iterations) {
  const double last = report.history.back();
  if (last <= tolerance) return Convergence::converged;
  if (!std::isfinite(last)) return Convergence::diverged;
  const bool stalled = report.iterations - best_sweep > max_stalled_sweeps;
  if (!stalled && report.iterations < max_iterations) return Convergence::none;
  if (last > report.history.front()) return Convergence::diverged;
  return stalled ? Convergence::stagnated : Convergence::max_iterations;
}

}  // namespace

template <class T>
void poinv_gauss_seidel(Context& context, Operands<T>& op, const Parameters& parameters) {
  Device& device = context.device;
  const double requested = parameters.real("residual_tolerance");
  const double tolerance = requested > 0 ? requested : 16.0 * std::numeric_limits<T>::epsilon();
  const std::int64_t max_iterations = parameters.integer("max_iterations");
  auto* residual = op.workspace.template take<unsigned long long>(1);

  context.stage("diagonal");
  find_zero_diagonal(context, op.a, op.info);
  context.stage("start");
  device.fill(op.x.data, 0, static_cast<std::size_t>(op.x.ld * op.x.cols) * sizeof(T));
  IterationReport& report = context.report;
  report = {};
  std::int64_t best_sweep = 0;  // the sweep, from 1, with the smallest value of `largest` so far
  double smallest = std::numeric_limits<double>::infinity();
  const auto blocks = static_cast<unsigned>((op.shape.n + tile_size - 1) / tile_size);
  while (report.convergence == Convergence::none) {
    context.stage("sweep");
    device.fill(residual, 0, sizeof(*residual));
    simt::launch(context, sweep<T>, dim3(blocks), dim3(tile_size, tile_size), 0, op.a, op.x, residual);
    double largest = 0;
    device.to_host(&largest, residual, sizeof(largest));
    ++report.iterations;
    report.history.push_back(largest);
    if (largest < smallest) {
      smallest = largest;
      best_sweep = report.iterations;
    }
    report.convergence = ending(report, best_sweep, tolerance, max_iterations);
  }
}

GAUSSWEEP_INSTANTIATE(poinv_gauss_seidel)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
