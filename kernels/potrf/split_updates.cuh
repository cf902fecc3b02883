#pragma once
/// Trailing updates of a Cholesky factorisation in float on FP16 tensor cores: C -= P P^T, where P consists
/// of the factored columns.
///
/// A float is split into two FP16 numbers, high and low: its rounded value and the remainder. Three of their
/// four products are computed; low times low is negligible (getrf/split_products.cuh). P is split only once,
/// because it is both factors of the product. The parts of P are stored side by side as [high, low, high,
/// high]. One GEMM then suffices: the last three parts [low, high, high] times the transpose of the first
/// three, [high, low, high]. The diagonal of the symmetric matrix must be scaled to about 1. Then no element
/// of the Cholesky factor overflows in FP16.

#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "kernels/getrf/split_products.cuh"
#include "kernels/potrf/recursive_cholesky.cuh"
#include "kernels/simt/simt.hpp"
#include "kernels/vendor/cuda_blas.hpp"

namespace gaussweep::cuda::tiles {

/// Splits the rows x k_count matrix at `p` into rows x 4 k_count FP16 numbers. A thread converts four
/// elements of a column at a time.
/// @tparam HighOnly true: computes only the first part, the matrix rounded to FP16
/// @pre all columns are aligned to 16 bytes; rows % 8 == 0, because `rows` is the leading dimension of
/// `halves`
template <bool HighOnly, class Half>
__global__ void __launch_bounds__(256)
    split_panel(const float* p, std::int64_t ldp, int rows, int k_count, Half* halves) {
  const unsigned quads_per_column = static_cast<unsigned>(rows) / 4;
  const unsigned quads = quads_per_column * static_cast<unsigned>(k_count);
  const std::int64_t part_stride = static_cast<std::int64_t>(rows) * k_count;
  for (unsigned i = blockIdx.x * 256u + threadIdx.x; i < quads; i += gridDim.x * 256u) {
    const auto column = static_cast<std::int64_t>(i / quads_per_column);
    const int row = static_cast<int>(i % quads_per_column) * 4;
    lu::detail::FourHalves high, low;
    lu::detail::split_four(p + row + column * ldp, /*count=*/4, high, low);
    Half* const to = halves + row + column * rows;
    *reinterpret_cast<lu::detail::FourHalves*>(to) = high;
    if (HighOnly) continue;
    *reinterpret_cast<lu::detail::FourHalves*>(to + part_stride) = low;
    *reinterpret_cast<lu::detail::FourHalves*>(to + 2 * part_stride) = high;
    *reinterpret_cast<lu::detail::FourHalves*>(to + 3 * part_stride) = high;
  }
}

/// Returns the thresholds of a factorisation with updates in FP16.
inline Thresholds thresholds_of_halves() {
  Thresholds thresholds;
  thresholds.max_single_launch_order = 4608;
  thresholds.panel_columns = 512;
  return thresholds;
}

/// Computes the updates of a factorisation on tensor cores, for RecursiveCholesky.
class SplitUpdates {
 public:
  /// @param memory workspace of split_bytes(n) bytes
  /// @param high_only true: omits the low parts. A product then takes a third of the operations and has a
  /// relative error of 2^-11 per factor
  SplitUpdates(Context& context, std::int64_t n, Workspace& memory, bool high_only = false)
      : context_(context),
        high_only_(high_only),
        handles_(vendor_handles(context)),
        columns_(static_cast<int>(gaussweep::tiles::split_columns(n))),
        halves_(memory.take<__half>(4 * gaussweep::tiles::round_up_to_tiles(n) * columns_)) {}

  /// Subtracts P P^T from the `count` columns at c: from their lower triangle and the rows below. P is the
  /// rows x k_count matrix at p. P and C have leading dimension `ld`. Also writes some elements above the
  /// diagonal.
  void subtract(int rows, int k_count, const float* p, int count, float* c, std::int64_t ld) {
    // The memory holds four times as many columns if they have only the high part.
    const int max_columns = high_only_ ? 4 * columns_ : columns_;
    for (int k_begin = 0; k_begin < k_count; k_begin += max_columns) {
      const Panel panel{rows, std::min(max_columns, k_count - k_begin)};
      split(panel, p + k_begin * ld, ld);
      context_.stage("split_product");
      multiply(panel, count, c, ld);
    }
  }

 private:
  static constexpr int square = 512;  ///< order of the smallest squares on the diagonal (multiply())
  static constexpr float product_scale = 1 / (lu::detail::split_scale * lu::detail::split_scale);
  /// The size of P, whose FP16 parts are in halves_.
  struct Panel {
    int height, k_count;
  };
  /// A block of C: its first row and column, and its size.
  struct Block {
    int row, column, rows, columns;
  };
  void split(const Panel& panel, const float* p, std::int64_t ldp) {
    context_.stage("split");
    const std::int64_t elements_per_block =
        256 * 4 * 2;  // each of 256 threads converts two times four elements
    const std::int64_t elements = static_cast<std::int64_t>(panel.height) * panel.k_count;
    const auto blocks = static_cast<unsigned>((elements + elements_per_block - 1) / elements_per_block);
    simt::launch(
        context_,
        high_only_ ? split_panel</*HighOnly=*/true, __half> : split_panel</*HighOnly=*/false, __half>,
        dim3(blocks), dim3(256), 0, p, ldp, panel.height, panel.k_count, halves_);
  }
  /// Subtracts P P^T from the lower triangle of the `count` columns of C and from the rows below, by
  /// rectangular GEMMs.
  void multiply(const Panel& panel, int count, float* c, std::int64_t ldc) {
    const int below = panel.height - count;
    if (below > 0)
      multiply(panel, {/*row=*/count, /*column=*/0, /*rows=*/below, /*columns=*/count}, /*count=*/1, c, ldc);
    // First computes the squares on the diagonal. Each round of the loop then computes, per pair of
    // neighbouring squares, the block left of the lower square. That completes a square of twice the order
    // for the next round.
    const int squares = count / square, remainder = count % square;
    if (squares > 0) multiply(panel, {/*row=*/0, /*column=*/0, square, square}, squares, c, ldc);
    if (remainder > 0)
      multiply(panel, {squares * square, squares * square, remainder, remainder}, /*count=*/1, c, ldc);
    for (int half = square; half < count; half *= 2) {
      const int pairs = count / (2 * half);
      const int end = 2 * half * pairs;
      if (pairs > 0) multiply(panel, {/*row=*/half, /*column=*/0, half, half}, pairs, c, ldc);
      if (count - end > half)
        multiply(panel, {end + half, end, count - end - half, half}, /*count=*/1, c, ldc);
    }
  }
  /// Subtracts P P^T from `count` blocks of C of equal size in one batched GEMM. Each block is `step` rows
  /// and columns after the previous one.
  void multiply(const Panel& panel, const Block& block, int count, float* c, std::int64_t ldc) {
    const std::int64_t ld = panel.height;
    const std::int64_t step = block.row + block.rows - block.column;
    // The left operand consists of parts 1 to 3 of [high, low, high, high], the right one of parts 0 to 2.
    const __half* const left = halves_ + block.row + (high_only_ ? 0 : panel.k_count * ld);
    const __half* const right = halves_ + block.column;
    vendor::gemm_batch_fp16(handles_, block.rows, block.columns, (high_only_ ? 1 : 3) * panel.k_count,
                            -product_scale, left, ld, step, right, ld, step, 1.0f,
                            c + block.row + block.column * ldc, ldc, step * (ldc + 1), count);
  }

  Context& context_;
  bool high_only_;
  VendorHandles& handles_;
  int columns_;     // maximum number of columns that are split into four FP16 parts together
  __half* halves_;  // the FP16 parts of P
};

}  // namespace gaussweep::cuda::tiles
