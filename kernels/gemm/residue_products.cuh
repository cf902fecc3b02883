#pragma once
/// Products of floats or doubles by residues: Ozaki's scheme II on 8-bit integer tensor cores.
///
/// The rows of A and the columns of B are scaled and rounded to integers. These are reduced modulo N coprime
/// numbers of at most 256 (the moduli). The residues are bytes, and the N products of byte matrices are exact
/// in 32-bit sums. The Chinese remainder theorem gives the product of the integers. Only rounding to integers
/// causes a significant error. If the method must choose N, a pre-pass first multiplies the magnitudes of the
/// elements, rounded to 7 bits, to estimate |A| |B|. (K. Ozaki, Y. Uchino, T. Imamura, Ozaki Scheme II,
/// arXiv:2504.08009; Y. Uchino, K. Ozaki, T. Imamura, SC '25 workshops, arXiv:2508.03984.)

#include <algorithm>

#include "kernels/gemm/residue_steps.cuh"
#include "kernels/gemm/workspaces.hpp"
#include "kernels/registry/method.hpp"
#ifdef __CUDACC__
#include "kernels/vendor/cuda_blas.hpp"
#endif
#ifdef GAUSSWEEP_SM90A
#include "kernels/gemm/byte_products.cuh"
#endif

namespace gaussweep::GAUSSWEEP_BACKEND::residues {

/// The use of the product in multiply(), and the accuracy that a requested number of moduli must reach.
enum class ProductUse {
  product,    ///< C = A B, accurate enough to pass verification (bits_verified)
  subtracted  ///< C -= A B, accurate enough for an LU factorisation (bits_for_lu), without a pre-pass
};

/// Computes products by residues in a given workspace.
template <class T>
class ResidueProducts {
 public:
  /// @param capacity limits the number of moduli and the sizes of the products
  /// @param memory has at least bytes_of(capacity) bytes
  ResidueProducts(Context& context, const WorkspaceCapacity& capacity, Workspace& memory)
      : context_(context),
        capacity_(capacity),
        left_(memory.take<signed char>(capacity.left)),
        right_(memory.take<signed char>(capacity.right)),
        sums_(memory.take<int>(capacity.sums)),
        exponents_(memory.take<int>(capacity.exponents + 2)),
        measurements_(reinterpret_cast<OperandMeasurements*>(exponents_ + capacity.exponents)) {}

  /// Computes the product with `count` moduli, or fewer if more would not be more accurate. If `count` is 0,
  /// chooses the number of moduli that the accuracy of T needs. All matrices are column-major. Waits for the
  /// device.
  /// @return the number of moduli, or 0 if residues cannot compute the product; C is then unchanged. Reasons:
  /// elements are not finite, out of range or of too different magnitudes; k is too large; `count` moduli are
  /// not accurate enough (ProductUse).
  /// @pre `capacity` is for at least `count` moduli
  int multiply(int count, MatrixView<T> a, MatrixView<T> b, MatrixView<T> c, ProductUse use) {
    if (a.cols > max_inner_size || a.cols == 0 || c.rows == 0 || c.cols == 0) return 0;
    int bits = 0;
    count = choose_moduli(count, a, b, c, use, bits);
    if (count == 0) return 0;
    const ModulusTable table = modulus_table(count);
    const std::int64_t m = padded(c.rows), k = padded_k(a.cols);
    const int left_bits = (bits + 1) / 2, right_bits = bits / 2;
    convert<OperandSide::rows_of_a>(rows_of(a), left_bits, m, m * k, left_, table);
    const std::int64_t width = block_columns(capacity_, count, m, c.cols, k);
    for (std::int64_t j = 0; j < c.cols; j += width) {
      const std::int64_t columns = std::min(width, c.cols - j);
      const std::int64_t n = padded(columns);
      OperandVectors<T> b_columns = columns_of(b, j, columns);
      convert<OperandSide::columns_of_b>(b_columns, right_bits, n, n * k, right_, table);
      const MatrixView<T> c_block{c.data + j * c.ld, c.rows, columns, c.ld};
#ifdef GAUSSWEEP_SM90A
      if (simt::has_wgmma(context_)) {
        context_.stage("products");
        auto* const reduced = reinterpret_cast<unsigned char*>(sums_);
        multiply_modulo(context_, table, m, n, k, left_, right_, reduced);
        store(reduced, m, n, c_block, bits, b_columns.exponents, table, use);
        continue;
      }
#endif
      multiply_bytes(count, m, n, k);
      store(sums_, m, n, c_block, bits, b_columns.exponents, table, use);
    }
    return count;
  }

 private:
  static unsigned blocks_of(std::int64_t count, std::int64_t block_size) {
    return static_cast<unsigned>((count + block_size - 1) / block_size);
  }
  const int* column_exponents() const {
    return exponents_ + rows_;
  }
  OperandVectors<T> rows_of(MatrixView<T> a) const {
    return {a.data,
            /*vector_stride=*/1,
            /*element_stride=*/a.ld,
            static_cast<int>(a.rows),
            static_cast<int>(a.cols),
            exponents_};
  }
  OperandVectors<T> columns_of(MatrixView<T> b, std::int64_t first, std::int64_t count) const {
    return {b.data + first * b.ld,   /*vector_stride=*/b.ld,   /*element_stride=*/1,
            static_cast<int>(count), static_cast<int>(b.rows), column_exponents() + first};
  }

  /// Reconstructs a block of C from m x n sums per modulus, or from the residues of these sums. A thread
  /// reconstructs four rows of one column.
  template <class Sum>
  void store(const Sum* sums, std::int64_t m, std::int64_t n, MatrixView<T> c, int bits,
             const int* column_exponents, const ModulusTable& table, ProductUse use) {
    context_.stage("reconstruct");
    const auto kernel = use == ProductUse::product ? reconstruct<T, /*subtract=*/false, Sum>
                                                   : reconstruct<T, /*subtract=*/true, Sum>;
    simt::launch(context_, kernel, dim3(blocks_of(m / 4 * c.cols, threads)), dim3(threads), 0, sums, m * n,
                 static_cast<int>(m), c, bits, exponents_, column_exponents, table);
  }

  /// Measures the operands and returns the number of moduli: `requested`, or the smallest number that is
  /// accurate enough if `requested` is 0. Returns 0 if residues cannot compute the product or are not
  /// accurate enough. Sets `bits` to the bits of an element of A plus the bits of an element of B.
  int choose_moduli(int requested, MatrixView<T> a, MatrixView<T> b, MatrixView<T> c, ProductUse use,
                    int& bits) {
    constexpr int digits = sizeof(T) == 4 ? 24 : 53;  // bits of the significand
    rows_ = a.rows;
    bool is_sufficient = false;  // `requested` moduli are accurate enough for any operands
    if (requested != 0) {
      requested = useful_moduli(requested, a.cols);
      bits = std::min(max_joint_bits(requested, a.cols), max_bits);
      is_sufficient = bits >= 2 * (use == ProductUse::product ? bits_for_any(digits) : bits_for_lu(digits));
      // The largest sum that the pre-pass can find: k terms of two 7-bit magnitudes. Larger sums need fewer
      // bits.
      const double largest_sum = 127.0 * 127.0 * static_cast<double>(a.cols);
      const double least_bits = bits_verified(digits, a.cols, largest_sum);
      if (!is_sufficient && (use == ProductUse::subtracted || bits / 2 < least_bits)) return 0;
    }
    context_.stage("measure");
    context_.device.fill(exponents_, unset_exponent_byte,
                         static_cast<std::size_t>(a.rows + b.cols) * sizeof(int));
    context_.device.fill(measurements_, 0, sizeof(OperandMeasurements));
    constexpr std::int64_t min_slice = 128;
    const std::int64_t slice = std::max(min_slice, (a.cols + 65534) / 65535);  // gridDim.y <= 65535
    simt::launch(context_, measure_rows<T>, dim3(blocks_of(a.rows, threads), blocks_of(a.cols, slice)),
                 dim3(threads), 0, a, static_cast<int>(slice), exponents_);
    simt::launch(context_, measure_columns<T>, dim3(static_cast<unsigned>(b.cols)), dim3(threads), 0, b,
                 exponents_ + rows_);
    simt::launch(context_, find_out_of_range<int>, dim3(blocks_of(a.rows + b.cols, threads)), dim3(threads),
                 0, exponents_, static_cast<int>(a.rows + b.cols), measurements_);
    if (is_sufficient) return measurements().out_of_range == 0 ? requested : 0;
    // The pre-pass first uses only every eighth chunk of 16 terms. That suffices if the elements have similar
    // magnitudes.
    for (const int stride : {8, 1}) {
      if (stride > 1 && a.cols < 4096) continue;
      const std::int64_t sampled = (padded(a.cols) / chunk + stride - 1) / stride * chunk;
      sum_magnitudes(stride, sampled, a, b, c);
      const OperandMeasurements result = measurements();
      if (result.out_of_range != 0) return 0;
      if (requested != 0) {
        if (bits / 2 >= bits_verified(digits, a.cols, result.smallest_sum)) return requested;
        continue;
      }
      const double needed = bits_needed(digits, a.cols, sampled, result.smallest_sum);
      const int count = needed <= max_bits / 2 ? moduli_for(needed, a.cols) : 0;
      if (count != 0) {
        bits = std::min(max_joint_bits(count, a.cols), max_bits);
        return count;
      }
    }
    return 0;
  }

  OperandMeasurements measurements() {
    OperandMeasurements result{};
    context_.device.to_host(&result, measurements_, sizeof result);
    return result;
  }

  /// Runs the pre-pass: computes the smallest element of |A| |B| (OperandMeasurements::smallest_sum). Uses
  /// only every `stride`th chunk of 16 k indices, `sampled` indices in all.
  void sum_magnitudes(int stride, std::int64_t sampled, MatrixView<T> a, MatrixView<T> b, MatrixView<T> c) {
    context_.stage("look_ahead");
    const std::int64_t m = padded(c.rows), k = padded_k(sampled);
    const auto chunks = static_cast<int>(k / chunk);
    constexpr int largest_byte = 0x7f;  // 0x7f7f7f7f is above every sum (at most 2^30)
    context_.device.fill(&measurements_->smallest_sum, largest_byte, sizeof(int));
    simt::launch(context_, make_magnitudes<T, OperandSide::rows_of_a>, dim3(row_blocks(m, chunks)),
                 dim3(threads), 0, rows_of(a), stride, static_cast<int>(m), chunks, left_);
    const std::int64_t width = block_columns(capacity_, /*count=*/1, m, c.cols, k);
    for (std::int64_t j = 0; j < c.cols; j += width) {
      const std::int64_t columns = std::min(width, c.cols - j);
      const std::int64_t n = padded(columns);
      const OperandVectors<T> b_columns = columns_of(b, j, columns);
      simt::launch(context_, make_magnitudes<T, OperandSide::columns_of_b>,
                   dim3(blocks_of(n * chunks, threads)), dim3(threads), 0, b_columns, stride,
                   static_cast<int>(n), chunks, right_);
      multiply_bytes(/*count=*/1, m, n, k);
      const unsigned blocks = std::min(blocks_of(m / 4 * columns, threads), 2048u);
      simt::launch(context_, find_smallest_sum<int>, dim3(blocks), dim3(threads), 0, sums_,
                   static_cast<int>(m), static_cast<int>(c.rows), static_cast<int>(columns), exponents_,
                   b_columns.exponents, measurements_);
    }
  }

  /// Returns the number of thread blocks for m rows of A; assign_chunk gives each block eight chunks of
  /// `threads` / 8 rows.
  static unsigned row_blocks(std::int64_t m, int chunks) {
    return blocks_of(m, threads / 8) * blocks_of(chunks, 8);
  }
  /// Writes the residues of the rows of A or of the columns of B to `to`, which has `plane` bytes per
  /// modulus. Each element is first rounded to `bits` bits relative to the scale of its row or column.
  template <OperandSide source>
  void convert(const OperandVectors<T>& from, int bits, std::int64_t padded_count, std::int64_t plane,
               signed char* to, const ModulusTable& table) {
    context_.stage("residues");
    const auto chunks = static_cast<int>(padded_k(from.length) / chunk);
    const unsigned blocks = source == OperandSide::rows_of_a ? row_blocks(padded_count, chunks)
                                                             : blocks_of(padded_count * chunks, threads);
    const auto kernel = bits > one_step_bits ? make_residues<T, source, /*wide=*/true>
                                             : make_residues<T, source, /*wide=*/false>;
    simt::launch(context_, kernel, dim3(blocks), dim3(threads), 0, from, bits, static_cast<int>(padded_count),
                 chunks, to, plane, table);
  }

  /// Computes the sums of `count` products of bytes, m x n each, with one call per product. (A batched call
  /// of cuBLAS takes a third longer.)
  void multiply_bytes(int count, std::int64_t m, std::int64_t n, std::int64_t k) {
    context_.stage("products");
    for (int l = 0; l < count; ++l) {
      const signed char* const left = left_ + l * m * k;
      const signed char* const right = right_ + l * n * k;
      int* const sums = sums_ + l * m * n;
#ifdef __CUDACC__
      vendor::gemm_int8(vendor_handles(context_), m, n, k, left, right, sums);
#else
      for (std::int64_t i = 0; i < m * n; ++i) {
        int sum = 0;
        for (std::int64_t h = 0; h < k; ++h) sum += left[i % m * k + h] * right[i / m * k + h];
        sums[i] = sum;
      }
#endif
    }
  }

  Context& context_;
  WorkspaceCapacity capacity_;
  signed char* left_;   // the residues of A
  signed char* right_;  // the residues of a block of B's columns
  int* sums_;           // per modulus: the products of bytes for a block of C
  int* exponents_;      // exponents of the scales of A's rows, then of B's columns
  OperandMeasurements* measurements_;
  std::int64_t rows_ = 0;  // rows of A
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::residues
