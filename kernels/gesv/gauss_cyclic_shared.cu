/// gesv/gauss_cyclic_shared: row-cyclic Gaussian elimination with the subtracted row in shared memory.
///
/// F. Fuhrmann, TU Wien 2017: the appendix declares this kernel but does not list its code. The parameter
/// `schedule` selects the stages of gesv/gauss_cyclic_halving or of gesv/gauss_cyclic_decrement. A block
/// copies each pivot row to shared memory after it has divided the row by its pivot. Elements that do not fit
/// are read from global memory.
///
/// Layout: [A | B] row-major, overwritten; X is a separate column-major matrix. Cost: about n^3 / 2
/// multiply-adds. Workspace: as for gesv/gauss_cyclic_halving, and shared memory for a row. Requirements on
/// A, failures, error bound and the bits of the answer are those of the method with the same schedule.

#include <algorithm>

#include "kernels/gesv/gauss_steps.cuh"
#include "kernels/gesv/gauss_substitution.cuh"
#include "kernels/gesv/row_addition.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Runs one stage like eliminate_stripe (gauss_steps.cuh). Copies the first `cached` elements of each pivot
/// row to shared memory.
template <class T>
__global__ void eliminate_stripe_shared(T* a, std::int64_t ld, int n, int columns, int cached,
                                        StageInfo info) {
  T* pivot_row_copy = simt::dynamic_shared<T>();
  if (info.failed_earlier()) return;
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  const std::int64_t stride = gridDim.x;
  int column = 0;
  for (std::int64_t i = blockIdx.x; i < n; i += stride, ++column) {
    T* row = a + i * ld;
    if (!normalise_row(row, column, columns, static_cast<int>(i), info.current)) return;
    __syncthreads();  // the row is normalised, and no thread still reads the last copy
    for (int j = thread; j < cached; j += threads) pivot_row_copy[j] = row[j];
    for (std::int64_t below = i + stride; below < n; below += stride) {
      T* target = a + below * ld;
      const T factor = target[column];
      __syncthreads();            // target[column] is overwritten below, and the copy must be complete
      if (factor == T(0)) break;  // an earlier stage eliminated this row and the stripe's later rows
      for (int j = thread; j < cached; j += threads)
        target[j] = std::fma(-factor, pivot_row_copy[j], target[j]);
      for (int j = cached + thread; j < columns; j += threads) {
        target[j] = std::fma(-factor, row[j], target[j]);
      }
    }
  }
}

}  // namespace

template <class T>
void gesv_gauss_cyclic_shared(Context& context, Operands<T>& op, const Parameters& parameters) {
  const int threads = thread_count(parameters, op.shape.n);
  const auto max_blocks = static_cast<int>(parameters.integer("blocks"));
  const bool halving = parameters.choice("schedule") == "halving";
  const auto columns = static_cast<int>(op.a.cols);
  // Reserves 1 KiB for static shared memory.
  const std::size_t capacity = (simt::max_shared_bytes(context) - 1024) / sizeof(T);
  const int cached = static_cast<int>(std::min<std::size_t>(capacity, static_cast<std::size_t>(columns)));
  prepare(context, op, parameters, threads);
  context.stage("eliminate");
  run_stages(context, op, max_blocks, halving ? halved : decremented, [&](int blocks, StageInfo info) {
    simt::launch(context, eliminate_stripe_shared<T>, dim3(static_cast<unsigned>(blocks)),
                 dim3(static_cast<unsigned>(threads)), static_cast<std::size_t>(cached) * sizeof(T),
                 op.a.data, op.a.ld, static_cast<int>(op.shape.n), columns, cached, info);
  });
  context.stage("back_substitute");
  back_substitute(context, op, substitution(parameters), max_blocks, threads);
}

GAUSSWEEP_INSTANTIATE(gesv_gauss_cyclic_shared)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
