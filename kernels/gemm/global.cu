/// gemm/global: C = A B from global memory, one thread per element of C.
///
/// L. Čejka, ČVUT 2022, section 1.2.6 (listing 1.10): each thread multiplies its row of A with its column of
/// B. Neighbouring threads have neighbouring columns. They therefore read the same element of A, and their
/// accesses to B and C are coalesced. This version accepts any m, n and k: threads beyond the edge of C do
/// nothing. (J. Soriano's column-major version is gemm/direct.)
///
/// Layout: row-major; C is a separate matrix. Cost: 2 m n k operations; every thread loads 2 k elements, and
/// only the caches reduce this traffic. Workspace: none. Accepts matrices of any shape.
///
/// Error: |C - A B| <= g |A| |B| with g = k u / (1 - k u) (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., section 3.5).

#include <cmath>
#include <cstdint>
#include <string>

#include "kernels/gemm/strips.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Computes one element of C per thread.
template <class T>
__global__ void multiply_elements(MatrixView<T> a, MatrixView<T> b, MatrixView<T> c) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= c.rows || column >= c.cols) return;
  const T* row_of_a = a.data + row * a.ld;
  const T* element_of_b = b.data + column;
  T sum = 0;
  for (std::int64_t k = 0; k < a.cols; ++k, element_of_b += b.ld)
    sum = std::fma(row_of_a[k], *element_of_b, sum);
  c.data[row * c.ld + column] = sum;
}

}  // namespace

template <class T>
void gemm_global(Context& context, Operands<T>& op, const Parameters& parameters) {
  const auto tile = static_cast<unsigned>(std::stoi(parameters.choice("tile")));
  context.stage("multiply");
  for_row_strips(op.a, op.x, tile, [&](MatrixView<T> a, MatrixView<T> c) {
    const dim3 grid(static_cast<unsigned>((c.cols + tile - 1) / tile),
                    static_cast<unsigned>((c.rows + tile - 1) / tile));
    simt::launch(context, multiply_elements<T>, grid, dim3(tile, tile), 0, a, op.b, c);
  });
}

GAUSSWEEP_INSTANTIATE(gemm_global)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
