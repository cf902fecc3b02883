/// geinv/batched: the inverses of many small matrices in one launch.
///
/// Source: gaussweep. Each matrix is a group of threads' with a row each in registers (getrf/small_rows.cuh):
/// Gauss-Jordan elimination in place with partial pivoting. Where they do not fit, a block's in panels of 32
/// columns (getrf/panels.cuh): LU, then both substitutions of the identity. Layout: column-major, matrices
/// side by side; by panels L and U take the place of A. Cost: 2 n^3 operations a matrix; A is read and
/// written once, by panels n / 64 + n / 32 times. Workspace: none. A pivot that is exactly 0 gives info > 0,
/// and the answer is then not finite. n <= 512.

#include "kernels/getrf/panels.cuh"
#include "kernels/getrf/small_rows.cuh"
#include "kernels/getrf/small_rows.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

template <class T, class S>
__device__ __forceinline__ void invert_rows(std::int64_t count, int n, const T* a, T* x, int* info) {
  __shared__ small::Desk<T, S> desks[S::systems];
  const small::Seat<S> seat;
  const bool inside = seat.system < count;
  small::Rows<T, S> rows(desks[seat.desk], seat.thread);
  const std::int64_t first = seat.system * n * n;
  rows.load({inside ? a + first : nullptr, n, n});
  const int found = rows.invert();
  rows.store_inverse({inside ? x + first : nullptr, n, n});
  if (inside && seat.thread == 0) info[seat.system] = found;
}
template <class T, class S>
__global__ void __launch_bounds__(S::threads)
    invert_small(std::int64_t count, int n, const T* a, T* x, int* info) {
  invert_rows<T, S>(count, n, a, x, info);
}
/// The same, two blocks at once on a multiprocessor: their registers fit at order 96 in double.
template <class T, class S>
__global__ void __launch_bounds__(S::threads, 2)
    invert_twice(std::int64_t count, int n, const T* a, T* x, int* info) {
  invert_rows<T, S>(count, n, a, x, info);
}

template <class T, int Rows>
__global__ void __launch_bounds__(Rows, panels::blocks_at_once<Rows>)
    invert_panels(int n, T* a, T* x, int* info) {
  __shared__ panels::Desk<T, Rows> desk;
  const std::int64_t s = blockIdx.x, first = s * n * n;
  panels::Panels<T, Rows, false> system(desk, {a + first, n, Uplo::lower});
  const int found = system.factor();
  system.solve(nullptr, x + first, n);
  if (threadIdx.x == 0) info[s] = found;
}

}  // namespace

template <class T>
void geinv_batched(Context& context, Operands<T>& op, const Parameters& parameters) {
  const Shape& shape = op.shape;
  context.stage("invert");
  if (batched::is_by_panels(shape.n, parameters, sizeof(T) == 8 ? 96 : batched::most_rows)) {
    return panels::for_rows(shape.n, [&](auto rows) {
      simt::launch(context, invert_panels<T, rows>, dim3(static_cast<unsigned>(shape.batch)), dim3(rows), 0,
                   static_cast<int>(shape.n), op.a.data, op.x.data, op.info);
    });
  }
  small::for_order<T, 1, false>(shape.n, [&](auto share) {
    using S = decltype(share);
    auto kernel = invert_small<T, S>;
    if constexpr (S::threads == 384) kernel = invert_twice<T, S>;
    simt::launch(context, kernel, small::blocks_for<S>(shape.batch), dim3(S::threads), 0, shape.batch,
                 static_cast<int>(shape.n), op.a.data, op.x.data, op.info);
  });
}

GAUSSWEEP_INSTANTIATE(geinv_batched)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
