/// getrf/batched: LU with partial pivoting of many small matrices in one launch.
///
/// Source: gaussweep. Each matrix is a group of threads' with a row each in registers (small_rows.cuh), and a
/// block's in panels of 32 columns where they do not fit (panels.cuh). Layout: column-major, matrices side by
/// side; L (unit diagonal) and U take the place of A. Cost: 2/3 n^3 operations a matrix; A is read and
/// written once, by panels n / 64 times. Workspace: none. Takes any matrix: a pivot that is exactly 0 gives
/// info > 0, and the factors are then still those of A. n <= 512.

#include "kernels/getrf/panels.cuh"
#include "kernels/getrf/small_rows.cuh"
#include "kernels/getrf/small_rows.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

template <class T, class S>
__global__ void __launch_bounds__(S::threads)
    factor_small(std::int64_t count, int n, T* a, int* pivots, int* info) {
  __shared__ small::Desk<T, S> desks[S::systems];
  const small::Seat<S> seat;
  const bool inside = seat.system < count;
  small::Rows<T, S> rows(desks[seat.desk], seat.thread);
  T* const own = inside ? a + seat.system * n * n : nullptr;
  rows.load({own, n, n});
  rows.load_beside(nullptr, n, n, 0);
  const int found = rows.factor();
  rows.store({own, n, n});
  rows.store_pivots(inside ? pivots + seat.system * n : nullptr, n);
  if (inside && seat.thread == 0) info[seat.system] = found;
}

template <class T, class S>
__global__ void __launch_bounds__(S::threads, S::blocks) factor_panels(int n, T* a, int* pivots, int* info) {
  __shared__ panels::Desk<T, S> desk;
  const std::int64_t s = blockIdx.x;
  panels::Panels<T, S, false> system(desk, {a + s * n * n, n, Uplo::lower});
  const int found = system.factor();
  system.exchange(pivots + s * n);
  if (threadIdx.x == 0) info[s] = found;
}

}  // namespace

template <class T>
void getrf_batched(Context& context, Operands<T>& op, const Parameters& parameters) {
  const Shape& shape = op.shape;
  context.stage("factor");
  if (batched::is_by_panels(shape.n, parameters, batched::rows_to(sizeof(T)))) {
    return panels::for_rows<T, false>(shape.n, [&](auto share) {
      using S = decltype(share);
      simt::launch(context, factor_panels<T, S>, dim3(static_cast<unsigned>(shape.batch)), dim3(S::threads),
                   0, static_cast<int>(shape.n), op.a.data, op.pivots, op.info);
    });
  }
  small::for_order<T, 1, false>(shape.n, [&](auto share) {
    using S = decltype(share);
    simt::launch(context, factor_small<T, S>, small::blocks_for<S>(shape.batch), dim3(S::threads), 0,
                 shape.batch, static_cast<int>(shape.n), op.a.data, op.pivots, op.info);
  });
}

GAUSSWEEP_INSTANTIATE(getrf_batched)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
