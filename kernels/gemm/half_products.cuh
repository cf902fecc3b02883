#pragma once
/// Products of floats on tensor cores (the method of Ootomo and Yokota). Every float is split into two halves
/// (half-precision numbers), and three of the four partial products are computed.
///
/// A float x is replaced by hi + lo, where hi is x rounded to half and lo is x - hi rounded to half. Together
/// they keep 22 of the 24 bits of x's significand. The sum hi hi + hi lo + lo hi is one product of
/// half-precision matrices with three times the k range, accumulated in float. Tensor cores truncate, not
/// round, when they add to the accumulator. The small products therefore come first, while the accumulator is
/// small. After `inner` terms the accumulator is added to a float sum in memory, with rounding. (H. Ootomo,
/// R. Yokota, Recovering single precision accuracy from Tensor Cores while surpassing the FP32 theoretical
/// peak performance, IJHPCA 36, 2022.) Before the split, rows, columns and k indices are scaled by powers of
/// two (half_steps.cuh).

#include <algorithm>

#include "kernels/gemm/half_steps.cuh"
#ifdef __CUDACC__
#include "kernels/vendor/cuda_blas.hpp"
#endif

namespace gaussweep::GAUSSWEEP_BACKEND::halves {

/// Computes products of floats by split halves in a given workspace.
class HalfProducts {
 public:
  /// @param capacity limits the sizes of the products
  /// @param inner terms per tensor-core sum
  /// @param memory has at least bytes_of(capacity) bytes
  HalfProducts(Context& context, const WorkspaceCapacity& capacity, std::int64_t inner, Workspace& memory)
      : context_(context),
        capacity_(capacity),
        inner_(inner),
        left_(memory.take<Half>(capacity.left)),
        right_(memory.take<Half>(capacity.right)),
        sums_(memory.take<float>(capacity.sums)),
        exponent_memory_(memory.take<int>(capacity.exponents)) {}

  /// Computes C = A B, or C -= A B if `subtracted`. The matrices are column-major with any leading
  /// dimensions. Elements of C that depend on a non-finite element become non-finite. Returns before the
  /// device has finished.
  void multiply(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c, bool subtracted) {
    if (c.rows == 0 || c.cols == 0) return;
    const std::int64_t m8 = padded(c.rows);  // rows of C, padded to a multiple of 8
    measure_all(a, b);
    const std::int64_t width = std::min(c.cols, capacity_.sums / m8);
    for (std::int64_t j = 0; j < c.cols; j += width) {
      const std::int64_t n = std::min(width, c.cols - j);
      for (std::int64_t k = 0; k < a.cols; k += inner_) {
        const std::int64_t k_count = std::min(inner_, a.cols - k);
        multiply_slice({a.data + k * a.ld, a.rows, k_count, a.ld}, {b.data + k + j * b.ld, k_count, n, b.ld},
                       k, j, m8);
      }
      context_.stage("scale_back");
      const dim3 grid(blocks_of(c.rows, threads), blocks_of(n, 4));
      const auto kernel = subtracted ? scale_back</*subtracted=*/true> : scale_back</*subtracted=*/false>;
      simt::launch(context_, kernel, grid, dim3(threads), 0, sums_, m8,
                   MatrixView<float>{c.data + j * c.ld, c.rows, n, c.ld}, exponents_.rows,
                   exponents_.columns + j);
    }
  }

 private:
  static unsigned blocks_of(std::int64_t count, std::int64_t block_size) {
    return static_cast<unsigned>((count + block_size - 1) / block_size);
  }

  /// Computes `exponents_` of A and B.
  void measure_all(MatrixView<const float> a, MatrixView<const float> b) {
    context_.stage("measure");
    exponents_.a_columns = exponent_memory_;
    exponents_.b_rows = exponents_.a_columns + a.cols;
    exponents_.rows = exponents_.b_rows + a.cols;
    exponents_.columns = exponents_.rows + a.rows;
    context_.device.fill(exponent_memory_, unset_exponent_byte,
                         static_cast<std::size_t>(2 * a.cols + a.rows + b.cols) * sizeof(int));
    launch_measure</*pass=*/1>(a, b, /*by_rows=*/b, /*column_blocks=*/a.cols);
    launch_measure</*pass=*/2>(a, b, /*by_rows=*/a, /*column_blocks=*/b.cols);
  }
  /// Launches one pass of `measure`. `by_rows` is the matrix whose rows it measures; `column_blocks` is the
  /// number of columns of the other matrix.
  template <int pass>
  void launch_measure(MatrixView<const float> a, MatrixView<const float> b, MatrixView<const float> by_rows,
                      std::int64_t column_blocks) {
    const auto row_blocks = static_cast<int>(blocks_of(by_rows.rows, threads));
    const auto slices = static_cast<int>(blocks_of(by_rows.cols, 32));
    simt::launch(context_, measure<pass>, dim3(static_cast<unsigned>(row_blocks * slices + column_blocks)),
                 dim3(threads), 0, a, b, exponents_, row_blocks, slices);
  }

  /// Adds the product of a k slice to the sums. `first` is the slice's first k index, `column` the first
  /// column of the current block of C.
  void multiply_slice(MatrixView<const float> a, MatrixView<const float> b, std::int64_t first,
                      std::int64_t column, std::int64_t m8) {
    const std::int64_t k8 = padded(a.cols);
    constexpr std::int64_t block_elements = 2 * 4 * threads;  // every thread splits two groups of four
    const unsigned left_blocks = blocks_of(m8 * k8, block_elements);
    const unsigned right_blocks = blocks_of(b.cols * k8, block_elements);
    MaxExponents exponents = exponents_;
    exponents.columns += column;
    context_.stage("split");
    simt::launch(context_, split<float>, dim3(left_blocks + right_blocks), dim3(threads), 0, a, b, exponents,
                 static_cast<int>(first), left_, static_cast<int>(m8), static_cast<int>(left_blocks), right_,
                 static_cast<int>(k8));
    context_.stage("product");
    const float beta = first == 0 ? 0 : 1;
#ifdef __CUDACC__
    vendor::gemm_fp16(vendor_handles(context_), m8, b.cols, parts * k8, /*alpha=*/1, left_, m8, right_,
                      parts * k8, beta, sums_, m8);
#else
    for (std::int64_t i = 0; i < m8 * b.cols; ++i) {
      float sum = 0;
      for (std::int64_t h = 0; h < parts * k8; ++h)
        sum = std::fma(to_float(left_[i % m8 + h * m8]), to_float(right_[h + i / m8 * parts * k8]), sum);
      sums_[i] = sum + (beta == 0 ? 0 : sums_[i]);
    }
#endif
  }

  Context& context_;
  WorkspaceCapacity capacity_;
  std::int64_t inner_;
  Half* left_;            // the split k slice of A
  Half* right_;           // the split k slice of B
  float* sums_;           // the sums of a block of C, scaled
  int* exponent_memory_;  // the memory of exponents_
  MaxExponents exponents_{};
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::halves
