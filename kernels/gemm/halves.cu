/// gemm/halves: C = A B in float, by products of split halves on tensor cores.
///
/// half_products.cuh names the source. Layout: column-major; C is a separate matrix. Cost: 6 m n k operations
/// in half precision. Workspace: a float per element of a block of C (up to 2^26 elements or 2048 columns), 3
/// `inner` halves per row of A and per column of B, and their exponents. Elements may lie anywhere in float's
/// range, with graded rows, columns and k range. Error: splitting changes a term by a relative error of up to
/// 2^-21, while SGEMM's sum of k terms has an error of up to k 2^-24 |A| |B| (Higham, "Accuracy and Stability
/// of Numerical Algorithms", 2nd ed., section 3.5). Products with few terms are therefore computed in double.
/// Elements of C that depend on a non-finite element of A or B are not finite, but the sign of an infinity
/// may be lost.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/float_rows.hpp"
#include "kernels/gemm/half_products.cuh"
#include "kernels/simt/simt.hpp"

GAUSSWEEP_DECLARE_FLOAT(gemm_halves)

namespace gaussweep::GAUSSWEEP_BACKEND {

namespace {

/// Computes C = A B for k <= Terms with double sums, because float sums of subnormal terms would lose digits.
/// A thread keeps one row of A and computes elements of this row of C. Blocks with different blockIdx.y share
/// the columns.
template <int Terms>
__global__ void multiply_few_terms(MatrixView<float> a, MatrixView<float> b, MatrixView<float> c) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= c.rows) return;
  const int k = static_cast<int>(a.cols);
  float row[Terms];
  GAUSSWEEP_UNROLL
  for (int t = 0; t < Terms; ++t) row[t] = t < k ? a.data[i + t * a.ld] : 0.0f;
  for (std::int64_t j = blockIdx.y; j < c.cols; j += gridDim.y) {
    const float* const column = b.data + j * b.ld;
    double sum = 0;
    GAUSSWEEP_UNROLL
    for (int t = 0; t < Terms; ++t) {
      if (t < k) sum = std::fma(static_cast<double>(row[t]), static_cast<double>(column[t]), sum);
    }
    c.data[i + j * c.ld] = static_cast<float>(sum);
  }
}

}  // namespace

void gemm_halves(Context& context, Operands<float>& op, const Parameters& parameters) {
  const Shape& s = op.shape;
  if (s.k <= halves::max_few_terms) {
    constexpr unsigned threads = 128;
    const dim3 grid(static_cast<unsigned>((s.m + threads - 1) / threads),
                    static_cast<unsigned>(std::min<std::int64_t>(s.n, 1024)));
    context.stage("few_terms");
    return simt::launch(context, multiply_few_terms<halves::max_few_terms>, grid, threads, 0, op.a, op.b,
                        op.x);
  }
  const std::int64_t inner = parameters.integer("inner");
  constexpr bool subtracted = false;
  halves::HalfProducts products(context, halves::capacity_of_product(s, inner), inner, op.workspace);
  products.multiply({op.a.data, op.a.rows, op.a.cols, op.a.ld}, {op.b.data, op.b.rows, op.b.cols, op.b.ld},
                    op.x, subtracted);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
