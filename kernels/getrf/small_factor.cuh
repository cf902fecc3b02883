#pragma once
/// LU of a batch of small systems in one launch, for getrf/batched and the first step of gesv/batched and
/// geinv/batched.

#include "kernels/getrf/panel_factorisation.cuh"
#include "kernels/getrf/small_rows.cuh"
#include "kernels/getrf/workspaces.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::small {

/// The arrays that receive the row exchanges as n row indices per system. `pivots` has exchanges as in LAPACK
/// (rows k and pivots[k] in step k), but counted from 0; `order` has a permutation. One of the pointers is
/// null.
struct PivotOutput {
  int* pivots;  ///< LAPACK's pivots
  int* order;   ///< the index in A of the pivot row of each step
};

/// Factors Split::systems systems per block, with rows in registers. @tparam Split a RowSplit of
/// small_rows.cuh
template <class T, class Split>
__global__ void __launch_bounds__(Split::threads)
    factor_rows(std::int64_t count, int n, T* a, PivotOutput output, int* info) {
  __shared__ Padded<SharedStorage<T, Split>> shared_of[Split::systems];
  const GroupIndex<Split> index;
  const bool inside = index.system < count;
  ThreadRow<T, Split> rows(shared_of[index.in_block], index.thread);
  T* const matrix = inside ? a + index.system * n * n : nullptr;
  rows.load({matrix, /*ld=*/n, n});
  rows.load_rhs(/*b=*/nullptr, n, n, /*count=*/0);  // no right-hand sides: their registers become 0
  const int system_info = rows.factor();
  rows.store({matrix, /*ld=*/n, n});
  if (output.pivots != nullptr) {
    rows.store_pivots(inside ? output.pivots + index.system * n : nullptr, n);
  } else if (inside) {
    rows.store_order(output.order + index.system * n, n);
  }
  if (inside && index.thread == 0) info[index.system] = system_info;
}

/// Factors one system per block in panels. @tparam Split a PanelSplit of panel_tiles.cuh: the split of a
/// matrix among a block's threads
template <class T, class Split>
__global__ void __launch_bounds__(Split::threads, Split::blocks)
    factor_panels(int n, T* a, PivotOutput output, int* info) {
  __shared__ panels::SharedStorage<T, Split> shared;
  const std::int64_t s = blockIdx.x;
  panels::PanelFactorisation<T, Split, /*Symmetric=*/false> system(shared, {a + s * n * n, n, Uplo::lower});
  const int system_info = system.factor();
  system.exchange();
  if (output.pivots != nullptr) {
    system.store_pivots(output.pivots + s * n);
  } else {
    system.store_order(output.order + s * n);
  }
  if (threadIdx.x == 0) info[s] = system_info;
}

/// Replaces every A of the batch by L and U. Row k of the result is the pivot row of step k.
template <class T>
void factor(Context& context, Operands<T>& op, PivotOutput output, const Parameters& parameters) {
  const Shape& shape = op.shape;
  context.stage("factor");
  // max_rows_order: the largest n at which rows in registers are faster than panels.
  if (batched::uses_panels(shape.n, parameters, batched::max_rows_order(sizeof(T)))) {
    return panels::with_work_split<T, /*Symmetric=*/false>(context, shape, [&](auto split) {
      using Split = decltype(split);
      simt::launch(context, factor_panels<T, Split>, dim3(static_cast<unsigned>(shape.batch)),
                   Split::threads_of(shape.n), 0, static_cast<int>(shape.n), op.a.data, output, op.info);
    });
  }
  // Columns of B per thread: at least 1, although there are no right-hand sides.
  with_work_split<T, /*Columns=*/1, /*Symmetric=*/false>(shape.n, [&](auto split) {
    using Split = decltype(split);
    simt::launch(context, factor_rows<T, Split>, blocks_for<Split>(shape.batch), dim3(Split::threads), 0,
                 shape.batch, static_cast<int>(shape.n), op.a.data, output, op.info);
  });
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::small
