// Launches the kernels that verify a batch, with 8 to 32 lanes or a thread block per system. Sums are
// compensated, so that a residual's error is of the order of u^2 times the sum of |products|.
#include "kernels/check/system_ratios.hpp"

#include "kernels/check/large_systems.cuh"
#include "kernels/check/small_systems.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

using namespace verification;

/// Finds the system with the largest ratio among those that pass. Copies the ratios of `count` equally spaced
/// systems to `sample`.
template <class = void>  // a template, because the program also links the other backend's definition
__global__ void summary_kernel(const double* ratios, const int* infos, double tolerance, std::int64_t batch,
                               std::int64_t count, double* sample, RatioTotals* totals) {
  const std::int64_t s = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (s < count) sample[s] = ratios[batch * s / count];
  if (s < batch && infos[s] == 0 && ratios[s] <= tolerance && bits_of(ratios[s]) == totals->max_ratio)
    atomicMin(&totals->worst, static_cast<unsigned long long>(s));
}

unsigned blocks_for(std::int64_t count, std::int64_t per_block) {
  return static_cast<unsigned>((count + per_block - 1) / per_block);
}

template <RatioKind kind, class T>
void launch_ratios(Context& context, const BatchToVerify<T>& systems, double* ratios, RatioTotals* totals) {
  const Shape& shape = systems.shape;
  constexpr bool is_solution = kind == RatioKind::solution;
  // Small kernels need at least as many lanes as rows and columns. The columns of a solution X do not count,
  // because its lanes process one column after the other.
  const std::int64_t size =
      std::max({systems.a_shape.rows, systems.a_shape.cols, is_solution ? 0 : systems.x_shape.cols});
  const auto launch_small = [&](auto kernel, std::int64_t lanes) {
    simt::launch(context, kernel, dim3(blocks_for(shape.batch * lanes, small_threads)), dim3(small_threads),
                 0, systems, ratios, totals);
  };
  if (size <= 8) return launch_small(small_kernel<kind, 8, T>, 8);
  if (size <= 16) return launch_small(small_kernel<kind, 16, T>, 16);
  if (size <= 32) return launch_small(small_kernel<kind, 32, T>, 32);
  const unsigned threads = is_solution && systems.x_shape.cols <= 4 ? 32 : size <= 128 ? 128 : max_threads;
  // Dynamic shared memory per row. LU: `order` and `pivots` of set_row_order. Cholesky, if only the lower
  // triangle of the residual is computed: one double per warp (Residual::mirrored_sums).
  const std::size_t bytes_per_row = kind == RatioKind::lu_factors ? 2 * sizeof(int)
                                    : mirrors<kind>(shape)        ? threads / 32 * sizeof(double)
                                                                  : 0;
  simt::launch(context, large_kernel<kind, T>, dim3(static_cast<unsigned>(shape.batch)), dim3(threads),
               static_cast<std::size_t>(shape.n) * bytes_per_row, systems, ratios, totals);
}

}  // namespace

template <class T>
void start_ratios(Context& context, const BatchToVerify<T>& systems, std::int64_t count, double* ratios,
                  RatioTotals* totals) {
  switch (systems.ratio_kind) {
    case RatioKind::solution:
      launch_ratios<RatioKind::solution>(context, systems, ratios, totals);
      break;
    case RatioKind::lu_factors:
      launch_ratios<RatioKind::lu_factors>(context, systems, ratios, totals);
      break;
    case RatioKind::cholesky_factor:
      launch_ratios<RatioKind::cholesky_factor>(context, systems, ratios, totals);
      break;
    case RatioKind::inverse:
      launch_ratios<RatioKind::inverse>(context, systems, ratios, totals);
      break;
    case RatioKind::product:
      launch_ratios<RatioKind::product>(context, systems, ratios, totals);
      break;
  }
  constexpr unsigned threads = 256;
  simt::launch(context, summary_kernel<>, dim3(blocks_for(systems.shape.batch, threads)), dim3(threads), 0,
               static_cast<const double*>(ratios), systems.infos, systems.tolerance, systems.shape.batch,
               count, reinterpret_cast<double*>(totals + 1), totals);
}

template void start_ratios(Context&, const BatchToVerify<float>&, std::int64_t, double*, RatioTotals*);
template void start_ratios(Context&, const BatchToVerify<double>&, std::int64_t, double*, RatioTotals*);

}  // namespace gaussweep::GAUSSWEEP_BACKEND
