/// gemm/halves: C = A B in float, by three half-precision products on tensor cores.
///
/// half_products.cuh describes how floats are split into halves, and names the source. Layout: column-major;
/// C is a separate matrix. Cost: 6 m n k operations in half precision. The k range is split into slices of at
/// most `inner` indices (a parameter). Workspace: one float per element of a block of C, 3 halves per element
/// of a k slice of A and of B, and exponents. A block of C has about 2^26 elements, but at least 2048
/// columns. Elements may have any magnitude in float's range; half_steps.cuh scales rows, columns and k
/// indices. If an element of C depends on a non-finite element of A or B, it is not finite, but the sign of
/// an infinity may be lost.
///
/// Error: splitting changes a term by a relative error of up to 2^-21. SGEMM's sum of k terms has an error of
/// up to k 2^-24 |A| |B| (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 3.5),
/// typically sqrt(k) 2^-24. With k <= 256, splitting would cause a large part of the error. Such products are
/// therefore computed with double sums. For 256 < k < 512, splitting may still cause half of the error bound.
/// The tensor cores then add at most 32 terms before the sum is added to a float sum in memory, because their
/// additions truncate.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/float_rows.hpp"
#include "kernels/gemm/half_products.cuh"
#include "kernels/simt/simt.hpp"

GAUSSWEEP_DECLARE_FLOAT(gemm_halves)

namespace gaussweep::GAUSSWEEP_BACKEND {

namespace {

constexpr int thread_columns = 4;  ///< columns of C per thread and step

/// Computes C = A B for small k with double sums. A thread computes four elements of one row of C at a time.
/// Blocks with different blockIdx.y split the columns.
__global__ void multiply_small_k(MatrixView<float> a, MatrixView<float> b, MatrixView<float> c) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= c.rows) return;
  for (std::int64_t j = std::int64_t{thread_columns} * blockIdx.y; j < c.cols;
       j += std::int64_t{thread_columns} * gridDim.y) {
    const float* columns[thread_columns];
    GAUSSWEEP_UNROLL
    for (int e = 0; e < thread_columns; ++e)
      columns[e] = b.data + (j + e < c.cols ? j + e : c.cols - 1) * b.ld;
    double sums[thread_columns] = {};
    for (int k = 0; k < static_cast<int>(a.cols); ++k) {
      const auto left = static_cast<double>(a.data[i + k * a.ld]);
      GAUSSWEEP_UNROLL
      for (int e = 0; e < thread_columns; ++e)
        sums[e] = std::fma(left, static_cast<double>(columns[e][k]), sums[e]);
    }
    GAUSSWEEP_UNROLL
    for (int e = 0; e < thread_columns; ++e) {
      if (j + e < c.cols) c.data[i + (j + e) * c.ld] = static_cast<float>(sums[e]);
    }
  }
}

}  // namespace

void gemm_halves(Context& context, Operands<float>& op, const Parameters& parameters) {
  const Shape& s = op.shape;
  if (s.k <= halves::max_small_k) {
    constexpr unsigned threads = 128;
    const dim3 grid(
        static_cast<unsigned>((s.m + threads - 1) / threads),
        static_cast<unsigned>(std::min<std::int64_t>((s.n + thread_columns - 1) / thread_columns, 1024)));
    context.stage("few_terms");
    return simt::launch(context, multiply_small_k, grid, threads, 0, op.a, op.b, op.x);
  }
  const std::int64_t inner = halves::terms_per_sum(s.k, parameters.integer("inner"));
  constexpr bool subtracted = false;
  halves::HalfProducts products(context, halves::capacity_of_product(s, inner), inner, op.workspace);
  products.multiply({op.a.data, op.a.rows, op.a.cols, op.a.ld}, {op.b.data, op.b.rows, op.b.cols, op.b.ld},
                    op.x, subtracted);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
