#pragma once
/// The iterative LU decomposition of L. Čejka, ČVUT 2022, section 1.3.2, for getrf/fixed_point and
/// gesv/lu_fixed_point.
///
/// The method is that of ParILU (an iterative incomplete LU), but computes all elements of L and U instead of
/// those of a sparsity pattern. L and U are stored in one column-major matrix without U's unit diagonal. The
/// first iterate is A itself. An iteration computes every element from Crout's formulas and the previous
/// iterate:
///   l(i, j) = a(i, j) - sum over k < j of l(i, k) u(k, j)                for i >= j,
///   u(i, j) = (a(i, j) - sum over k < i of l(i, k) u(k, j)) / l(i, i)    for i < j.
/// The formulas use only elements above and to the left, so each iteration completes at least one more column
/// of L or row of U. After 2 n - 2 iterations all elements have the bits of Crout's method (crout_steps.hpp),
/// because the products are subtracted in the same order. Before that, elements may overflow or become NaN;
/// later iterations correct them. A few iterations suffice for a diagonally dominant matrix.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// The largest change of an element in one iteration. It is stored as bits, for atomicMax: the bits of
/// nonnegative doubles have the order of the values. NaN is the largest and means that some element is not
/// finite.
struct FixedPointChanges {
  unsigned long long largest_bits;  ///< the bits of the largest change, a double
  unsigned long long any_changed;   ///< nonzero if any element changed
};
static_assert(sizeof(FixedPointChanges) == 2 * sizeof(unsigned long long));

/// Returns |after - before|, or NaN if that is not finite.
template <class T>
__device__ double change_of(T before, T after) {
  const double change = std::fabs(static_cast<double>(after) - static_cast<double>(before));
  return change <= std::numeric_limits<double>::max() ? change : std::numeric_limits<double>::quiet_NaN();
}

/// Returns true if the iteration changed an element.
template <class T>
__device__ bool differs(T before, T after) {
  return before != after && !(before != before && after != after);  // NaN equals NaN here
}

/// Updates one element per thread; neighbouring threads have neighbouring rows. `before` and `after` may be
/// the same matrix. Threads may then read elements that other threads have already updated. On a GPU the
/// iterates therefore differ from run to run; their limit does not. (The emulation on the CPU runs threads in
/// order, so that one iteration in place is Crout's method.)
template <class T>
__global__ void fixed_point_update(MatrixView<T> a, MatrixView<T> before, MatrixView<T> after,
                                   FixedPointChanges* changes) {
  __shared__ unsigned long long largest_bits;
  __shared__ int any_changed;
  const bool first_thread = threadIdx.x == 0 && threadIdx.y == 0;
  if (first_thread) {
    largest_bits = 0;
    any_changed = 0;
  }
  __syncthreads();
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  if (i < a.rows && j < a.cols) {
    const T* row = before.data + i;
    const T* column = before.data + j * before.ld;
    const std::int64_t k_count = i < j ? i : j;  // terms in Crout's formula
    T value = a.data[i + j * a.ld];
    for (std::int64_t k = 0; k < k_count; ++k) value = std::fma(-row[k * before.ld], column[k], value);
    if (i < j) value /= row[i * before.ld];
    const T old = column[i];
    after.data[i + j * after.ld] = value;
    if (differs(old, value) || !(std::fabs(value) <= std::numeric_limits<T>::max())) {
      const double change = change_of(old, value);
      unsigned long long bits = 0;
      memcpy(&bits, &change, sizeof(bits));
      atomicMax(&largest_bits, bits);
      if (differs(old, value)) atomicMax(&any_changed, 1);
    }
  }
  __syncthreads();
  if (first_thread && (largest_bits != 0 || any_changed != 0)) {
    atomicMax(&changes->largest_bits, largest_bits);
    if (any_changed != 0) atomicMax(&changes->any_changed, 1ULL);
  }
}

/// Computes u(i, j) = a(i, j) / a(i, i) above the diagonal, one element per thread. Rows with a zero on the
/// diagonal stay unchanged.
template <class T>
__global__ void scale_start(MatrixView<T> a, MatrixView<T> lu) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  if (i >= j || j >= a.cols) return;
  const T pivot = a.data[i + i * a.ld];
  if (pivot != T(0)) lu.data[i + j * lu.ld] = a.data[i + j * a.ld] / pivot;
}

/// Iterates from op.a, which is only read, and stores the factors in `lu`. The host reads the changes after
/// every iteration. With the parameter `start` = matrix, the first iterate is A itself, as in Čejka's thesis.
/// This start may be far from L and U. With in-place updates on a GPU, elements can then grow until iteration
/// 2 n, after which no element can change.
///
/// Fills context.report. The convergence in this report is `converged` if no element changed by more than the
/// tolerance; `diverged` if the last iterate is not finite or changed more than the first did; else
/// `max_iterations`. The iteration cannot stagnate, because an unchanged iterate is the solution. @pre op.a
/// and `lu` are n x n with ld = n
template <class T>
void fixed_point_factorise(Context& context, Operands<T>& op, const Parameters& parameters,
                           MatrixView<T> lu) {
  const std::int64_t n = op.shape.n;
  const double tolerance = parameters.real("change_tolerance");
  const std::int64_t requested = parameters.integer("max_iterations");
  const std::int64_t max_iterations = requested > 0 ? requested : 2 * n;
  const bool in_place = parameters.choice("update") == "in_place";
  Device& device = context.device;
  auto* changes = reinterpret_cast<FixedPointChanges*>(op.workspace.template take<unsigned long long>(2));
  MatrixView<T> before = lu;
  MatrixView<T> after = lu;
  if (!in_place) after = {op.workspace.template take<T>(n * n), n, n, n};

  const dim3 block(32, 8);
  const dim3 grid(static_cast<unsigned>((n + block.x - 1) / block.x),
                  static_cast<unsigned>((n + block.y - 1) / block.y));
  context.stage("start");
  device.copy(lu.data, op.a.data, static_cast<std::size_t>(n * n) * sizeof(T));
  if (parameters.choice("start") == "scaled") {
    simt::launch(context, scale_start<T>, grid, block, 0, op.a, lu);
  }
  IterationReport& report = context.report;
  report = {};
  report.convergence = Convergence::max_iterations;
  context.stage("update");
  while (report.iterations < max_iterations) {
    device.fill(changes, 0, sizeof(FixedPointChanges));
    simt::launch(context, fixed_point_update<T>, grid, block, 0, op.a, before, after, changes);
    std::swap(before, after);  // `before` is now the newest iterate
    FixedPointChanges host_changes{};
    device.to_host(&host_changes, changes, sizeof(host_changes));
    double largest = 0;
    std::memcpy(&largest, &host_changes.largest_bits, sizeof(largest));
    ++report.iterations;
    report.history.push_back(largest);
    if (largest <= tolerance) report.convergence = Convergence::converged;  // false if `largest` is NaN
    if (report.convergence == Convergence::converged || host_changes.any_changed == 0) break;
  }
  const double last = report.history.back();
  if (report.convergence != Convergence::converged &&
      (!std::isfinite(last) || last > report.history.front())) {
    report.convergence = Convergence::diverged;
  }
  if (before.data != lu.data) {
    context.stage("copy");
    device.copy(lu.data, before.data, static_cast<std::size_t>(n * n) * sizeof(T));
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
