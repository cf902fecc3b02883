/// geinv/batched: the inverses of many small matrices in one launch.
///
/// Source: gaussweep. Each matrix is a group of threads' with a row each in registers (getrf/small_rows.cuh):
/// Gauss-Jordan elimination in place with partial pivoting. Layout: column-major, matrices side by side; the
/// inverse takes the place of A. Cost: 2 n^3 operations a matrix; A is read and written once. Workspace:
/// none. A pivot that is exactly 0 gives info > 0, and the answer is then not finite. n <= 128.

#include "kernels/getrf/small_rows.cuh"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

template <class T, class S>
__global__ void __launch_bounds__(S::threads) invert_small(std::int64_t count, int n, T* a, int* info) {
  __shared__ small::Desk<T, S> desks[S::systems];
  const small::Seat<S> seat;
  const bool inside = seat.system < count;
  small::Rows<T, S> rows(desks[seat.desk], seat.thread);
  T* const own = inside ? a + seat.system * n * n : nullptr;
  rows.load({own, n, n});
  const int found = rows.invert();
  rows.store_inverse({own, n, n});
  if (inside && seat.thread == 0) info[seat.system] = found;
}

}  // namespace

template <class T>
void geinv_batched(Context& context, Operands<T>& op, const Parameters&) {
  const Shape& shape = op.shape;
  context.stage("invert");
  small::for_order<T, 1, false>(shape.n, [&](auto share) {
    using S = decltype(share);
    simt::launch(context, invert_small<T, S>, small::blocks_for<S>(shape.batch), dim3(S::threads), 0,
                 shape.batch, static_cast<int>(shape.n), op.a.data, op.info);
  });
}

GAUSSWEEP_INSTANTIATE(geinv_batched)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
