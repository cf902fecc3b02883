#pragma once
/// Updates of a Cholesky factorisation in float on tensor cores: C -= P P^T with P in FP16.
///
/// A float is split into two FP16 numbers, and three of their products are computed (getrf/split_products.cuh
/// explains why). Both factors are the same matrix, so it is split once, into [high, low, high, high]. The
/// last three parts times the first three parts are the three products. If the symmetric matrix has a
/// diagonal of about 1, no element of the factor overflows in FP16.

#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "kernels/getrf/split_products.cuh"
#include "kernels/potrf/recursive_cholesky.cuh"
#include "kernels/simt/simt.hpp"
#include "kernels/vendor/cuda_blas.hpp"

namespace gaussweep::cuda::tiles {

/// Splits the rows x inner matrix at `p` into rows x 4 inner FP16 numbers; `Plain`: rounds it to FP16 only. A
/// thread converts four elements of a column at a time. @pre all columns are aligned to 16 bytes; rows % 8 ==
/// 0, because `rows` is the leading dimension of the result
template <bool Plain, class Half>
__global__ void __launch_bounds__(256)
    split_panel(const float* p, std::int64_t ldp, int rows, int inner, Half* halves) {
  const unsigned fours = static_cast<unsigned>(rows) / 4;
  const unsigned all = fours * static_cast<unsigned>(inner);
  const std::int64_t part = static_cast<std::int64_t>(rows) * inner;
  for (unsigned i = blockIdx.x * 256u + threadIdx.x; i < all; i += gridDim.x * 256u) {
    const auto column = static_cast<std::int64_t>(i / fours);
    const int row = static_cast<int>(i % fours) * 4;
    lu::detail::FourHalves high, low;
    lu::detail::split_four(p + row + column * ldp, 4, high, low);
    Half* const to = halves + row + column * rows;
    *reinterpret_cast<lu::detail::FourHalves*>(to) = high;
    if (Plain) continue;
    *reinterpret_cast<lu::detail::FourHalves*>(to + part) = low;
    *reinterpret_cast<lu::detail::FourHalves*>(to + 2 * part) = high;
    *reinterpret_cast<lu::detail::FourHalves*>(to + 3 * part) = high;
  }
}

/// Returns the thresholds of a factorisation with these updates.
inline Widths widths_of_halves() {
  Widths widths;
  widths.one_launch = 4608;
  widths.panel = 512;
  return widths;
}

/// The FP16 parts of some columns, and products of them.
class SplitUpdates {
 public:
  /// `plain`: rounds to FP16 without a low part, which is a third of the work, with an error of 2^-11 of the
  /// product. `memory` has gaussweep::tiles::split_bytes(n).
  SplitUpdates(Context& context, std::int64_t n, Workspace& memory, bool plain = false)
      : context_(context),
        plain_(plain),
        handles_(vendor_handles(context)),
        columns_(static_cast<int>(gaussweep::tiles::split_columns(n))),
        halves_(memory.take<__half>(4 * gaussweep::tiles::padded(n) * columns_)) {}

  /// Subtracts P P^T from the `count` columns at c: from their lower triangle and the rows below. P is the
  /// rows x inner matrix at p; both have leading dimension `ld`. Some elements above the diagonal are written
  /// too.
  void subtract(int rows, int inner, const float* p, int count, float* c, std::int64_t ld) {
    const int max_columns = plain_ ? 4 * columns_ : columns_;
    for (int done = 0; done < inner; done += max_columns) {
      const Panel panel{rows, std::min(max_columns, inner - done)};
      split(panel, p + done * ld, ld);
      context_.stage("split_product");
      multiply(panel, count, c, ld);
    }
  }

 private:
  static constexpr int square = 512;
  static constexpr float product_scale = 1 / (lu::detail::split_scale * lu::detail::split_scale);
  struct Panel {
    int height, inner;
  };
  struct Part {
    int row, column, rows, columns;
  };
  void split(const Panel& panel, const float* p, std::int64_t ldp) {
    context_.stage("split");
    const std::int64_t elements_per_block = 4 * 256 * 2;  // elements per thread block
    const std::int64_t all = static_cast<std::int64_t>(panel.height) * panel.inner;
    const auto blocks = static_cast<unsigned>((all + elements_per_block - 1) / elements_per_block);
    simt::launch(context_, plain_ ? split_panel<true, __half> : split_panel<false, __half>, dim3(blocks),
                 dim3(256), 0, p, ldp, panel.height, panel.inner, halves_);
  }
  void multiply(const Panel& panel, int count, float* c, std::int64_t ldc) {
    const int below = panel.height - count;
    if (below > 0) multiply(panel, {count, 0, below, count}, 1, c, ldc);
    // The triangle: squares on its diagonal, then the blocks below pairs of these, pairs of pairs, ...
    const int squares = count / square, rest = count % square;
    if (squares > 0) multiply(panel, {0, 0, square, square}, squares, c, ldc);
    if (rest > 0) multiply(panel, {squares * square, squares * square, rest, rest}, 1, c, ldc);
    for (int half = square; half < count; half *= 2) {
      const int pairs = count / (2 * half);
      const int done = 2 * half * pairs;
      if (pairs > 0) multiply(panel, {half, 0, half, half}, pairs, c, ldc);
      if (count - done > half) multiply(panel, {done + half, done, count - done - half, half}, 1, c, ldc);
    }
  }
  /// Multiplies `count` parts of equal size. Each is moved down the diagonal by row + rows - column relative
  /// to the one before.
  void multiply(const Panel& panel, const Part& part, int count, float* c, std::int64_t ldc) {
    const std::int64_t ld = panel.height;
    const std::int64_t step = part.row + part.rows - part.column;
    const __half* const left = halves_ + part.row + (plain_ ? 0 : panel.inner * ld);
    const __half* const right = halves_ + part.column;
    vendor::gemm_batch_fp16(handles_, part.rows, part.columns, (plain_ ? 1 : 3) * panel.inner, -product_scale,
                            left, ld, step, right, ld, step, 1.0f, c + part.row + part.column * ldc, ldc,
                            step * (ldc + 1), count);
  }

  Context& context_;
  bool plain_;
  VendorHandles& handles_;
  int columns_;  // columns that are split into four FP16 parts together
  __half* halves_;
};

}  // namespace gaussweep::cuda::tiles
