#pragma once
/// Factors and solves a batch of small systems in one launch, for gesv/batched and posv/batched. Larger
/// systems with several right-hand sides use factored_solve.cuh instead.

#include "kernels/getrf/panel_factorisation.cuh"
#include "kernels/getrf/small_rows.cuh"
#include "kernels/getrf/workspaces.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::small {

/// A batch of systems whose operands are contiguous.
struct Batch {
  std::int64_t count;
  int n, nrhs;
  Uplo uplo;
};

/// True if systems whose intermediate sums overflow or underflow are solved again
/// (ThreadRow::needs_rescaling). For orders of 24 to 48, code for a second solve would cost registers even if
/// it does not run, and make all systems 8 to 27 % slower (H200).
template <class Split>
constexpr bool solves_again = Split::max_order <= 16 || Split::max_order >= 64;

/// Solves the system of the calling thread's group (GroupIndex) with Split::rhs_columns right-hand sides,
/// which `blockIdx.y` selects. Returns true to all threads of the group if the system must be solved again by
/// solve_rescaled.
/// @tparam Rescales true: scales the rows of the system first
/// @param stores_answer false: computes with the other threads, but stores nothing
template <class T, class Split, bool Rescales>
__device__ __forceinline__ bool solve_group(Padded<SharedStorage<T, Split>>* shared_of, const Batch& batch,
                                            const T* a, const T* b, T* x, int* info, bool stores_answer) {
  const GroupIndex<Split> index;
  const int first_rhs = static_cast<int>(blockIdx.y) * Split::rhs_columns;
  const std::int64_t n = batch.n;
  const bool inside = index.system < batch.count;
  const std::int64_t offset = index.system * n * batch.nrhs + first_rhs * n;
  const int count = batch.nrhs - first_rhs;  // right-hand sides from first_rhs on

  ThreadRow<T, Split> rows(shared_of[index.in_block], index.thread);
  const System<const T> system{inside ? a + index.system * n * n : nullptr, /*ld=*/n, batch.n};
  if (Split::symmetric) {
    rows.load(system, batch.uplo);
  } else {
    rows.load(system);
  }
  rows.load_rhs(inside ? b + offset : nullptr, n, batch.n, count);
  if (Rescales) rows.rescale(stores_answer);
  const int system_info = rows.factor();
  rows.substitute();
  if (inside && rows.is_first_part() && stores_answer) {
    if (index.thread == 0 && blockIdx.y == 0) info[index.system] = system_info;
    if (rows.step() >= 0 && rows.step() < batch.n) {
      GAUSSWEEP_UNROLL
      for (int r = 0; r < Split::rhs_columns; ++r) {
        if (r < count) x[offset + r * n + rows.step()] = rows.unknown(r);
      }
    }
  }
  if constexpr (Rescales || !solves_again<Split>) {
    return false;
  } else {
    return rows.needs_rescaling(system_info);
  }
}
/// Solves the group's system again after scaling its rows, and stores the answer if `stores_answer`. A
/// separate function, because its registers must not add to those of the first solve.
template <class T, class Split>
__device__ GAUSSWEEP_NOINLINE void solve_rescaled(Padded<SharedStorage<T, Split>>* shared_of,
                                                  const Batch& batch, const T* a, const T* b, T* x, int* info,
                                                  bool stores_answer) {
  solve_group<T, Split, /*Rescales=*/true>(shared_of, batch, a, b, x, info, stores_answer);
}

/// Returns the minimum number of thread blocks per multiprocessor, for __launch_bounds__. It keeps
/// solve_rescaled from raising the number of registers above what solve_group needs.
template <class T, class Split>
constexpr int solve_blocks() {
  constexpr int n = Split::max_order;
  constexpr bool wide = sizeof(T) == 8, single = Split::rhs_columns == 1;
  if (Split::symmetric) return n != 16 ? 1 : wide ? 7 : 10;
  if (wide) return n == 4 ? (single ? 10 : 8) : n == 12 ? (single ? 7 : 6) : n == 16 ? 5 : 1;
  return n == 4 ? 12 : n == 16 && single ? 9 : 1;
}

/// Solves Split::systems systems per block, with rows in registers. Solves a system again after
/// scaling if solves_again and ThreadRow::needs_rescaling are true.
template <class T, class Split>
__global__ void __launch_bounds__(Split::threads, (solve_blocks<T, Split>()))
    solve_kernel(Batch batch, const T* a, const T* b, T* x, int* info) {
  __shared__ Padded<SharedStorage<T, Split>> shared_of[Split::systems];
  [[maybe_unused]] const bool needs_second_solve =
      solve_group<T, Split, /*Rescales=*/false>(shared_of, batch, a, b, x, info, /*stores_answer=*/true);
  if constexpr (solves_again<Split>) {
    if (ThreadRow<T, Split>::any_that_synchronizes(needs_second_solve))
      solve_rescaled<T, Split>(shared_of, batch, a, b, x, info, needs_second_solve);
  }
}

/// Solves all systems with rows in registers, `Columns` right-hand sides at a time.
template <class T, int Columns, bool Symmetric>
void solve_columns(Context& context, Operands<T>& op) {
  const Shape& shape = op.shape;
  const Batch batch{shape.batch, static_cast<int>(shape.n), static_cast<int>(shape.nrhs), shape.uplo};
  with_work_split<T, Columns, Symmetric>(shape.n, [&](auto split) {
    using Split = decltype(split);
    simt::launch(context, solve_kernel<T, Split>,
                 blocks_for<Split>(shape.batch, (shape.nrhs + Columns - 1) / Columns), dim3(Split::threads),
                 0, batch, op.a.data, op.b.data, op.x.data, op.info);
  });
}

/// Solves one system with one right-hand side per block by panels, and overwrites A.
template <class T, class Split, bool Symmetric>
__global__ void __launch_bounds__(Split::threads, Split::blocks)
    solve_panels(Batch batch, T* a, const T* b, T* x, int* info) {
  __shared__ panels::SharedStorage<T, Split> shared;
  const std::int64_t s = blockIdx.x, n = batch.n;
  panels::PanelFactorisation<T, Split, Symmetric, /*WithRhs=*/true> system(
      shared, {a + s * n * n, batch.n, batch.uplo});
  const int system_info = system.factor(b + s * n);
  if (threadIdx.x == 0) info[s] = system_info;
  system.solve_rhs(x + s * n);
}

/// Solves A X = B for every system of the batch in one launch. `Symmetric`: A is positive definite.
/// @param in_registers true: with rows in registers, up to four right-hand sides at a time; false: by panels,
/// for one right-hand side
template <class T, bool Symmetric>
void solve(Context& context, Operands<T>& op, bool in_registers) {
  context.stage("solve");
  const Shape& shape = op.shape;
  if (in_registers && shape.nrhs == 1) return solve_columns<T, /*Columns=*/1, Symmetric>(context, op);
  if (in_registers) return solve_columns<T, /*Columns=*/4, Symmetric>(context, op);
  const Batch batch{shape.batch, static_cast<int>(shape.n), /*nrhs=*/1, shape.uplo};
  panels::with_work_split<T, Symmetric>(context, shape, [&](auto split) {
    using Split = decltype(split);
    simt::launch(context, solve_panels<T, Split, Symmetric>, dim3(static_cast<unsigned>(shape.batch)),
                 Split::threads_of(shape.n), 0, batch, op.a.data, op.b.data, op.x.data, op.info);
  });
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::small
