#pragma once
/// Cholesky factors of a batch of small matrices in one launch, for potrf/batched and the first step of
/// posv/batched with several right-hand sides.

#include "kernels/getrf/panel_factorisation.cuh"
#include "kernels/getrf/small_rows.cuh"
#include "kernels/getrf/workspaces.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::small {

/// Factors one matrix per thread group, with one row per thread in registers (ThreadRow in
/// getrf/small_rows.cuh).
/// @tparam Split the work split: threads per group and groups per thread block
template <class T, class Split>
__global__ void __launch_bounds__(Split::threads)
    cholesky_small(std::int64_t count, int n, T* a, Uplo uplo, int* info) {
  __shared__ Padded<SharedStorage<T, Split>> storage[Split::systems];
  const GroupIndex<Split> index;
  const bool inside = index.system < count;
  ThreadRow<T, Split> rows(storage[index.in_block], index.thread);
  T* const matrix = inside ? a + index.system * n * n : nullptr;
  rows.load({matrix, n, n}, uplo);
  rows.load_rhs(/*b=*/nullptr, n, n, /*count=*/0);
  const int pivot_info = rows.factor();
  rows.store_cholesky({matrix, n, n}, uplo);
  if (inside && index.thread == 0) info[index.system] = pivot_info;
}

/// Factors one matrix per thread block, in panels of 32 columns (PanelFactorisation in
/// getrf/panel_factorisation.cuh).
/// @tparam Split the work split: sizes of the thread block
template <class T, class Split>
__global__ void __launch_bounds__(Split::threads, Split::blocks)
    cholesky_panels(int n, T* a, Uplo uplo, int* info) {
  __shared__ panels::SharedStorage<T, Split> shared;
  const std::int64_t s = blockIdx.x;
  const int pivot_info =
      panels::PanelFactorisation<T, Split, /*Symmetric=*/true>(shared, {a + s * n * n, n, uplo}).factor();
  if (threadIdx.x == 0) info[s] = pivot_info;
}

/// Replaces the triangle `uplo` of every A of the batch by its Cholesky factor.
template <class T>
void factor_cholesky(Context& context, Operands<T>& op, const Parameters& parameters) {
  const Shape& shape = op.shape;
  context.stage("factor");
  // In double, rows in registers are faster than panels up to order 16, and at order 32, where they fill a
  // warp.
  if (batched::uses_panels(shape.n, parameters, sizeof(T) == 8 && shape.n != 32 ? 16 : 32)) {
    return panels::with_work_split<T, /*Symmetric=*/true>(context, shape, [&](auto split) {
      using Split = decltype(split);
      simt::launch(context, cholesky_panels<T, Split>, dim3(static_cast<unsigned>(shape.batch)),
                   Split::threads_of(shape.n), 0, static_cast<int>(shape.n), op.a.data, shape.uplo, op.info);
    });
  }
  with_work_split<T, /*Columns=*/1, /*Symmetric=*/true>(shape.n, [&](auto split) {
    using Split = decltype(split);
    simt::launch(context, cholesky_small<T, Split>, blocks_for<Split>(shape.batch), dim3(Split::threads), 0,
                 shape.batch, static_cast<int>(shape.n), op.a.data, shape.uplo, op.info);
  });
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::small
