/// Launches the kernels of block_chain.cuh and small_solve.cuh: solves with one triangle, or with both
/// triangles of an LU or Cholesky decomposition.

#include "kernels/trsv/block_chain.hpp"

#include <algorithm>

#include "kernels/trsv/block_chain.cuh"
#include "kernels/trsv/small_solve.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

using chain::LaunchArguments;

/// Number of polls after which a wait times out. 2^24 polls take seconds, a solve only milliseconds.
constexpr int max_polls = 1 << 24;

/// Returns max_uncorrected_condition for the factors of LU with partial pivoting, in a system of order n. Up
/// to this condition number, the inverse of a diagonal triangle is used without correction. Diagonal
/// triangles of LU have condition numbers from 100 to 1000, and their inverses lose less than a factor of 3
/// in accuracy. For small systems the limit is n, because residuals are measured in units of n u.
float max_condition_lu(std::int64_t n) {
  const auto order = static_cast<float>(n);
  return std::min(order < 128 ? order : order * order / 128, 2000.0f);
}
/// Returns max_uncorrected_condition for Cholesky factors. The triangles of well-conditioned factors stay
/// below this limit.
float max_condition_cholesky(std::int64_t n) {
  return std::min(static_cast<float>(n), 32.0f);
}

/// The number of prefetched tiles (block_chain.cuh) for RhsPerGroup right-hand sides, limited by the
/// registers.
template <class T, int RhsPerGroup>
constexpr int prefetched_tiles = sizeof(T) == 4 && RhsPerGroup == 1   ? 3
                                 : sizeof(T) == 8 && RhsPerGroup == 8 ? 1
                                                                      : 2;

/// Launches the kernel. The groups of right-hand sides share the multiprocessors equally.
/// @param items number of block rows of all sweeps, plus 1 for row exchanges
template <class T, int RhsPerGroup, bool HasAdjacentRows, bool Transposed>
void launch_chain(Context& context, const LaunchArguments<T>& arguments, int items) {
  const int groups = (arguments.nrhs + RhsPerGroup - 1) / RhsPerGroup;
  const int blocks_per_group = std::max(simt::multiprocessors(context) / groups, 1);
  const dim3 grid(static_cast<unsigned>(std::min(items, blocks_per_group)), static_cast<unsigned>(groups));
  simt::launch(
      context,
      chain::solve_chain<T, RhsPerGroup, prefetched_tiles<T, RhsPerGroup>, HasAdjacentRows, Transposed>, grid,
      dim3(chain::threads), 0, arguments);
}

template <class T, int RhsPerGroup>
void launch_chain(Context& context, const LaunchArguments<T>& arguments, int items, vendor::Op op) {
  const bool paired =
      reinterpret_cast<std::uintptr_t>(arguments.a) % (2 * sizeof(T)) == 0 && arguments.ld % 2 == 0;
  if (op == vendor::Op::transpose) {
    paired ? launch_chain<T, RhsPerGroup, /*HasAdjacentRows=*/true, /*Transposed=*/true>(context, arguments,
                                                                                         items)
           : launch_chain<T, RhsPerGroup, /*HasAdjacentRows=*/false, /*Transposed=*/true>(context, arguments,
                                                                                          items);
  } else {
    paired ? launch_chain<T, RhsPerGroup, /*HasAdjacentRows=*/true, /*Transposed=*/false>(context, arguments,
                                                                                          items)
           : launch_chain<T, RhsPerGroup, /*HasAdjacentRows=*/false, /*Transposed=*/false>(context, arguments,
                                                                                           items);
  }
}

/// Solves systems of order at most block_order.
template <class T>
void launch_small(Context& context, const LaunchArguments<T>& arguments, vendor::Op op) {
  constexpr int max_blocks_per_multiprocessor = 4;
  const auto kernel = op == vendor::Op::transpose ? chain::solve_small<T, /*Transposed=*/true>
                                                  : chain::solve_small<T, /*Transposed=*/false>;
  const int blocks = std::min((arguments.nrhs + chain::warps - 1) / chain::warps,
                              max_blocks_per_multiprocessor * simt::multiprocessors(context));
  simt::launch(context, kernel, dim3(static_cast<unsigned>(blocks)), dim3(chain::threads), 0, arguments);
}

/// Sets the members of `arguments` that point into the workspace. Solves for all right-hand sides.
template <class T>
void solve(Context& context, LaunchArguments<T> arguments, std::int64_t nrhs, void* memory,
           vendor::Op op = vendor::Op::none) {
  if (arguments.n <= chain::block_order) {
    arguments.nrhs = static_cast<int>(nrhs);
    if (nrhs > 0) launch_small(context, arguments, op);
    return;
  }
  const ChainWorkspace layout(arguments.n, nrhs, sizeof(T), /*both_triangles=*/arguments.sweeps == 2);
  auto* const bytes = static_cast<std::byte*>(memory);
  const auto segments = [&](int number) { return reinterpret_cast<T*>(bytes + layout.segments(number)); };
  arguments.block_rows = static_cast<int>((arguments.n + chain::block_order - 1) / chain::block_order);
  arguments.counters = reinterpret_cast<chain::GroupCounters*>(bytes);
  for (int s = 0; s < arguments.sweeps; ++s) {
    arguments.sweep[s].answer_segments = segments(s);
    arguments.sweep[s].rhs_segments = s > 0 ? segments(s - 1) : nullptr;
    arguments.sweep[s].stores_answer = s + 1 == arguments.sweeps;
  }
  if (arguments.pivots != nullptr) {
    arguments.source_rows = reinterpret_cast<int*>(bytes + layout.source_rows());
    arguments.permuted_rhs = segments(2);
    arguments.sweep[0].rhs_segments = arguments.permuted_rhs;
  }
  arguments.group_bytes = layout.group_bytes();
  arguments.max_polls = max_polls;
  const int items = arguments.sweeps * arguments.block_rows + (arguments.pivots != nullptr ? 1 : 0);
  T* const b = arguments.b;
  const std::int64_t rhs_per_launch = layout.groups_per_launch * layout.rhs_per_group;
  for (std::int64_t first_rhs = 0; first_rhs < nrhs; first_rhs += rhs_per_launch) {
    arguments.nrhs = static_cast<int>(std::min(nrhs - first_rhs, rhs_per_launch));
    arguments.b = b + first_rhs * arguments.ldb;
    context.device.fill(memory, /*byte=*/0xff, layout.bytes());  // no value is published yet
    switch (layout.rhs_per_group) {
      case 1:
        launch_chain<T, 1>(context, arguments, items, op);
        break;
      case 4:
        launch_chain<T, 4>(context, arguments, items, op);
        break;
      default:
        launch_chain<T, 8>(context, arguments, items, op);
        break;
    }
  }
}

}  // namespace

template <class T>
void solve_triangle(Context& context, Uplo uplo, vendor::Diagonal diagonal, std::int64_t n, std::int64_t nrhs,
                    const T* a, std::int64_t ld, T* b, std::int64_t ldb, void* workspace, int* info,
                    vendor::Op op) {
  LaunchArguments<T> arguments{};
  arguments.n = n;
  arguments.sweeps = 1;
  arguments.a = a;
  arguments.ld = ld;
  arguments.b = b;
  arguments.ldb = ldb;
  arguments.info = info;
  arguments.sweep[0].lower = (uplo == Uplo::lower) == (op == vendor::Op::none);
  arguments.sweep[0].unit_diagonal = diagonal == vendor::Diagonal::unit;
  arguments.max_uncorrected_condition = max_condition_lu(n);
  solve(context, arguments, nrhs, workspace, op);
}

namespace {

/// Solves with both triangles of `a`, first with the lower one.
/// @param unit_lower true if the lower triangle has a unit diagonal
template <class T>
void solve_both_triangles(Context& context, std::int64_t n, std::int64_t nrhs, const T* a, std::int64_t ld,
                          bool unit_lower, const int* pivots, T* b, std::int64_t ldb,
                          float max_uncorrected_condition, void* workspace, int* info) {
  LaunchArguments<T> arguments{};
  arguments.n = n;
  arguments.sweeps = 2;
  arguments.a = a;
  arguments.ld = ld;
  arguments.b = b;
  arguments.ldb = ldb;
  arguments.pivots = pivots;
  arguments.info = info;
  arguments.sweep[0].lower = true;
  arguments.sweep[0].unit_diagonal = unit_lower;
  arguments.max_uncorrected_condition = max_uncorrected_condition;
  solve(context, arguments, nrhs, workspace);
}

}  // namespace

template <class T>
void solve_lu(Context& context, std::int64_t n, std::int64_t nrhs, const T* lu, std::int64_t ld,
              const int* pivots, T* b, std::int64_t ldb, void* workspace, int* info) {
  constexpr bool unit_lower = true;
  solve_both_triangles(context, n, nrhs, lu, ld, unit_lower, pivots, b, ldb, max_condition_lu(n), workspace,
                       info);
}

template <class T>
void solve_cholesky(Context& context, std::int64_t n, std::int64_t nrhs, const T* l, std::int64_t ld, T* b,
                    std::int64_t ldb, void* workspace, int* info) {
  constexpr bool unit_lower = false;
  solve_both_triangles(context, n, nrhs, l, ld, unit_lower, static_cast<const int*>(nullptr), b, ldb,
                       max_condition_cholesky(n), workspace, info);
}

template void solve_triangle<float>(Context&, Uplo, vendor::Diagonal, std::int64_t, std::int64_t,
                                    const float*, std::int64_t, float*, std::int64_t, void*, int*,
                                    vendor::Op);
template void solve_triangle<double>(Context&, Uplo, vendor::Diagonal, std::int64_t, std::int64_t,
                                     const double*, std::int64_t, double*, std::int64_t, void*, int*,
                                     vendor::Op);
template void solve_lu<float>(Context&, std::int64_t, std::int64_t, const float*, std::int64_t, const int*,
                              float*, std::int64_t, void*, int*);
template void solve_lu<double>(Context&, std::int64_t, std::int64_t, const double*, std::int64_t, const int*,
                               double*, std::int64_t, void*, int*);
template void solve_cholesky<float>(Context&, std::int64_t, std::int64_t, const float*, std::int64_t, float*,
                                    std::int64_t, void*, int*);
template void solve_cholesky<double>(Context&, std::int64_t, std::int64_t, const double*, std::int64_t,
                                     double*, std::int64_t, void*, int*);

}  // namespace gaussweep::GAUSSWEEP_BACKEND
