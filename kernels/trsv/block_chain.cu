#include "kernels/trsv/block_chain.hpp"

#include <algorithm>

#include "kernels/trsv/block_chain.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

using chain::Chain;

/// Polls after which a wait times out: they take seconds, while a solve takes milliseconds.
constexpr int max_polls = 1 << 24;

/// Returns the condition number up to which the inverse of a triangle from partial pivoting is used without
/// correction, in a system of order n. Such triangles have condition numbers from 100 to 1000 and lose less
/// than a factor of 3 in accuracy. The verified ratio divides by n, so a small system is allowed at most n.
float max_condition_lu(std::int64_t n) {
  const auto order = static_cast<float>(n);
  return std::min(order < 128 ? order : order * order / 128, 2000.0f);
}
/// Returns the same limit for Cholesky factors. Triangles of well-conditioned factors stay below it; other
/// triangles need a correction.
float max_condition_cholesky(std::int64_t n) {
  return std::min(static_cast<float>(n), 32.0f);
}

/// The number of prefetched tiles, limited by the registers.
template <class T, int R>
constexpr int depth = sizeof(T) == 4 && R == 1   ? 3
                      : sizeof(T) == 8 && R == 8 ? 1
                                                 : 2;

template <class T, int R, bool Paired>
void launch_chain(Context& context, const Chain<T>& work, int items) {
  const auto grid = static_cast<unsigned>(std::min(items, simt::multiprocessors(context)));
  simt::launch(context, chain::solve_chain<T, R, depth<T, R>, Paired>, dim3(grid), dim3(chain::threads), 0,
               work);
}

template <class T, int R>
void launch_chain(Context& context, const Chain<T>& work, int items) {
  const bool paired = reinterpret_cast<std::uintptr_t>(work.a) % (2 * sizeof(T)) == 0 && work.ld % 2 == 0;
  paired ? launch_chain<T, R, true>(context, work, items) : launch_chain<T, R, false>(context, work, items);
}

/// Solves for all right-hand sides, rhs_per_launch at a time, and fills in the members of `work` that point
/// into the workspace.
template <class T>
void solve(Context& context, Chain<T> work, std::int64_t nrhs, void* memory) {
  const ChainWorkspace layout(work.n, nrhs, sizeof(T), work.sweeps == 2);
  auto* const bytes = static_cast<std::byte*>(memory);
  const auto pieces = [&](int number) { return reinterpret_cast<T*>(bytes + layout.pieces(number)); };
  work.blocks = static_cast<int>((work.n + chain::order - 1) / chain::order);
  work.control = reinterpret_cast<chain::Control*>(bytes);
  for (int s = 0; s < work.sweeps; ++s) {
    work.sweep[s].pieces = pieces(s);
    work.sweep[s].source = s > 0 ? pieces(s - 1) : nullptr;
    work.sweep[s].stores_answer = s + 1 == work.sweeps;
  }
  if (work.pivots != nullptr) {
    work.sources = reinterpret_cast<int*>(bytes + layout.sources());
    work.permuted = pieces(2);
    work.sweep[0].source = work.permuted;
  }
  work.max_polls = max_polls;
  const int items = work.sweeps * work.blocks + (work.pivots != nullptr ? 1 : 0);
  T* const b = work.b;
  for (std::int64_t done = 0; done < nrhs; done += layout.rhs_per_launch) {
    work.nrhs = static_cast<int>(std::min<std::int64_t>(nrhs - done, layout.rhs_per_launch));
    work.b = b + done * work.ldb;
    context.device.fill(memory, 0xff, layout.bytes());
    switch (layout.rhs_per_launch) {
      case 1:
        launch_chain<T, 1>(context, work, items);
        break;
      case 4:
        launch_chain<T, 4>(context, work, items);
        break;
      default:
        launch_chain<T, 8>(context, work, items);
        break;
    }
  }
}

}  // namespace

template <class T>
void solve_triangle(Context& context, Uplo uplo, vendor::Diagonal diagonal, std::int64_t n, std::int64_t nrhs,
                    const T* a, std::int64_t ld, T* b, std::int64_t ldb, void* workspace, int* info) {
  Chain<T> work{};
  work.n = n;
  work.sweeps = 1;
  work.a = a;
  work.ld = ld;
  work.b = b;
  work.ldb = ldb;
  work.info = info;
  work.sweep[0].lower = uplo == Uplo::lower;
  work.sweep[0].unit = diagonal == vendor::Diagonal::unit;
  work.max_uncorrected_condition = max_condition_lu(n);
  solve(context, work, nrhs, workspace);
}

namespace {

/// Solves with both triangles of `a`, the lower one first. `unit_lower`: the lower one has a unit diagonal.
template <class T>
void solve_both(Context& context, std::int64_t n, std::int64_t nrhs, const T* a, std::int64_t ld,
                bool unit_lower, const int* pivots, T* b, std::int64_t ldb, float max_uncorrected_condition,
                void* workspace, int* info) {
  Chain<T> work{};
  work.n = n;
  work.sweeps = 2;
  work.a = a;
  work.ld = ld;
  work.b = b;
  work.ldb = ldb;
  work.pivots = pivots;
  work.info = info;
  work.sweep[0].lower = true;
  work.sweep[0].unit = unit_lower;
  work.max_uncorrected_condition = max_uncorrected_condition;
  solve(context, work, nrhs, workspace);
}

}  // namespace

template <class T>
void solve_lu(Context& context, std::int64_t n, std::int64_t nrhs, const T* lu, std::int64_t ld,
              const int* pivots, T* b, std::int64_t ldb, void* workspace, int* info) {
  constexpr bool unit_lower = true;
  solve_both(context, n, nrhs, lu, ld, unit_lower, pivots, b, ldb, max_condition_lu(n), workspace, info);
}

template <class T>
void solve_cholesky(Context& context, std::int64_t n, std::int64_t nrhs, const T* l, std::int64_t ld, T* b,
                    std::int64_t ldb, void* workspace, int* info) {
  constexpr bool unit_lower = false;
  solve_both(context, n, nrhs, l, ld, unit_lower, static_cast<const int*>(nullptr), b, ldb,
             max_condition_cholesky(n), workspace, info);
}

template void solve_triangle<float>(Context&, Uplo, vendor::Diagonal, std::int64_t, std::int64_t,
                                    const float*, std::int64_t, float*, std::int64_t, void*, int*);
template void solve_triangle<double>(Context&, Uplo, vendor::Diagonal, std::int64_t, std::int64_t,
                                     const double*, std::int64_t, double*, std::int64_t, void*, int*);
template void solve_lu<float>(Context&, std::int64_t, std::int64_t, const float*, std::int64_t, const int*,
                              float*, std::int64_t, void*, int*);
template void solve_lu<double>(Context&, std::int64_t, std::int64_t, const double*, std::int64_t, const int*,
                               double*, std::int64_t, void*, int*);
template void solve_cholesky<float>(Context&, std::int64_t, std::int64_t, const float*, std::int64_t, float*,
                                    std::int64_t, void*, int*);
template void solve_cholesky<double>(Context&, std::int64_t, std::int64_t, const double*, std::int64_t,
                                     double*, std::int64_t, void*, int*);

}  // namespace gaussweep::GAUSSWEEP_BACKEND
