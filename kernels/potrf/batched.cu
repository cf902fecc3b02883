/// potrf/batched: the Cholesky factors of many small matrices in one launch.
///
/// Source: gaussweep. A thread group factors one matrix, with one row per thread in registers
/// (getrf/small_rows.cuh): A = L D L^T from the lower triangle. The columns of L D are then divided by the
/// square roots of D. If the rows do not fit in registers, a thread block factors one matrix in panels of 32
/// columns (getrf/panels.cuh).
///
/// Error: L L^T = A + E with |E| <= g |L| |L^T| and g = c u / (1 - c u). With rows in registers c is n + 3 up
/// to order 4, and n + 7 above. With panels c is n + 7 in float and n + 9 in double. This is Cholesky's bound
/// (c = n + 1) with two to eight more roundings per product (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., theorem 10.3).
///
/// Layout: column-major, matrices contiguous; the factor overwrites the triangle `uplo` of A, and the other
/// triangle is neither read nor written. Cost: 2/3 n^3 operations per matrix, twice Cholesky's, or with
/// panels 1/3 n^3. Memory traffic: the triangle is read and written once, or with panels n / 96 times.
/// Workspace: none. A pivot that is not positive gives info > 0. n <= 512.

#include "kernels/getrf/panels.cuh"
#include "kernels/getrf/small_rows.cuh"
#include "kernels/getrf/workspaces.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Factors one matrix per thread group, with one row per thread in registers.
template <class T, class S>
__global__ void __launch_bounds__(S::threads)
    cholesky_small(std::int64_t count, int n, T* a, Uplo uplo, int* info) {
  __shared__ small::Padded<small::SharedStorage<T, S>> storage[S::systems];
  const small::GroupIndex<S> index;
  const bool inside = index.system < count;
  small::Rows<T, S> rows(storage[index.in_block], index.thread);
  T* const matrix = inside ? a + index.system * n * n : nullptr;
  rows.load({matrix, n, n}, uplo);
  rows.load_rhs(/*b=*/nullptr, n, n, /*count=*/0);
  const int pivot_info = rows.factor();
  rows.store_cholesky({matrix, n, n}, uplo);
  if (inside && index.thread == 0) info[index.system] = pivot_info;
}

/// Factors one matrix per thread block, in panels of 32 columns.
template <class T, class S>
__global__ void __launch_bounds__(S::threads, S::blocks) cholesky_panels(int n, T* a, Uplo uplo, int* info) {
  __shared__ panels::SharedStorage<T, S> shared;
  const std::int64_t s = blockIdx.x;
  const int pivot_info = panels::Panels<T, S, /*Symmetric=*/true>(shared, {a + s * n * n, n, uplo}).factor();
  if (threadIdx.x == 0) info[s] = pivot_info;
}

}  // namespace

template <class T>
void potrf_batched(Context& context, Operands<T>& op, const Parameters& parameters) {
  const Shape& shape = op.shape;
  context.stage("factor");
  // In double, rows in registers are faster than panels up to order 16, and at order 32, where they fill a
  // warp.
  const bool rows_to_16 = sizeof(T) == 8 && shape.n != 32;
  if (batched::uses_panels(shape.n, parameters, rows_to_16 ? 16 : batched::max_rows_order(sizeof(T)))) {
    return panels::with_work_split<T, /*Symmetric=*/true>(shape.n, [&](auto split) {
      using S = decltype(split);
      simt::launch(context, cholesky_panels<T, S>, dim3(static_cast<unsigned>(shape.batch)),
                   S::threads_of(shape.n), 0, static_cast<int>(shape.n), op.a.data, shape.uplo, op.info);
    });
  }
  small::with_work_split<T, /*Columns=*/1, /*Symmetric=*/true>(shape.n, [&](auto split) {
    using S = decltype(split);
    simt::launch(context, cholesky_small<T, S>, small::blocks_for<S>(shape.batch), dim3(S::threads), 0,
                 shape.batch, static_cast<int>(shape.n), op.a.data, shape.uplo, op.info);
  });
}

GAUSSWEEP_INSTANTIATE(potrf_batched)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
