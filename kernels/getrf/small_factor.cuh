#pragma once
/// LU of a batch of small systems in one launch, for getrf/batched and the first step of geinv/batched.

#include "kernels/getrf/panels.cuh"
#include "kernels/getrf/small_rows.cuh"
#include "kernels/getrf/small_rows.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::small {

/// The output for the row exchanges, n integers from 0 per system: either LAPACK's pivots, or per step the
/// index of the pivot row. The other pointer is null.
struct Taken {
  int* pivots;
  int* rows;
};

template <class T, class S>
__global__ void __launch_bounds__(S::threads)
    factor_rows(std::int64_t count, int n, T* a, Taken taken, int* info) {
  __shared__ Padded<SharedStorage<T, S>> shared_of[S::systems];
  const Seat<S> seat;
  const bool inside = seat.system < count;
  Rows<T, S> rows(shared_of[seat.shared], seat.thread);
  T* const own = inside ? a + seat.system * n * n : nullptr;
  rows.load({own, n, n});
  rows.load_beside(nullptr, n, n, 0);
  const int found = rows.factor();
  rows.store({own, n, n});
  if (taken.pivots != nullptr) {
    rows.store_pivots(inside ? taken.pivots + seat.system * n : nullptr, n);
  } else if (inside) {
    rows.store_order(taken.rows + seat.system * n, n);
  }
  if (inside && seat.thread == 0) info[seat.system] = found;
}

template <class T, class S>
__global__ void __launch_bounds__(S::threads, S::blocks) factor_panels(int n, T* a, Taken taken, int* info) {
  __shared__ panels::SharedStorage<T, S> shared;
  const std::int64_t s = blockIdx.x;
  panels::Panels<T, S, false> system(shared, {a + s * n * n, n, Uplo::lower});
  const int found = system.factor();
  system.exchange();
  if (taken.pivots != nullptr) {
    system.store_pivots(taken.pivots + s * n);
  } else {
    system.store_order(taken.rows + s * n);
  }
  if (threadIdx.x == 0) info[s] = found;
}

/// Replaces A by L and U, with rows in the order of the steps.
template <class T>
void factor(Context& context, Operands<T>& op, Taken taken, const Parameters& parameters) {
  const Shape& shape = op.shape;
  context.stage("factor");
  if (batched::is_by_panels(shape.n, parameters, batched::rows_to(sizeof(T)))) {
    return panels::for_rows<T, false>(shape.n, [&](auto share) {
      using S = decltype(share);
      simt::launch(context, factor_panels<T, S>, dim3(static_cast<unsigned>(shape.batch)),
                   S::threads_of(shape.n), 0, static_cast<int>(shape.n), op.a.data, taken, op.info);
    });
  }
  for_order<T, 1, false>(shape.n, [&](auto share) {
    using S = decltype(share);
    simt::launch(context, factor_rows<T, S>, blocks_for<S>(shape.batch), dim3(S::threads), 0, shape.batch,
                 static_cast<int>(shape.n), op.a.data, taken, op.info);
  });
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::small
