/// trmm/columns: B := A B, one thread per column of B.
/// Source: none. Layout: column-major, in place. Cost: nrhs n^2 operations; no coalesced loads. Workspace:
/// none. Accepts every triangular matrix.

#include <cmath>
#include <cstdint>

#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Computes the rows of the product in an order in which no row overwrites an input of a later one.
template <class T>
__global__ void multiply_column(MatrixView<T> a, MatrixView<T> b, bool lower) {
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j >= b.cols) return;
  const std::int64_t n = a.rows;
  T* column = b.data + j * b.ld;
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = lower ? n - 1 - step : step;
    const std::int64_t begin = lower ? 0 : i;
    const std::int64_t end = lower ? i + 1 : n;
    T sum = 0;
    for (std::int64_t k = begin; k < end; ++k) sum = std::fma(a.data[i + k * a.ld], column[k], sum);
    column[i] = sum;
  }
}

}  // namespace

template <class T>
void trmm_columns(Context& context, Operands<T>& op, const Parameters& parameters) {
  const auto threads = static_cast<unsigned>(parameters.integer("threads"));
  const auto blocks = static_cast<unsigned>((op.b.cols + threads - 1) / threads);
  context.stage("multiply");
  simt::launch(context, multiply_column<T>, blocks, threads, 0, op.a, op.b, op.shape.uplo == Uplo::lower);
}

GAUSSWEEP_INSTANTIATE(trmm_columns)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
