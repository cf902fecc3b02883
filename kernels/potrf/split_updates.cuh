#pragma once
/// Updates of a Cholesky factorisation in float on tensor cores: C -= P P^T, P as halves.
///
/// A float is split into two halves, three products of which are made (getrf/split_products.cuh has the
/// reasons). Both sides of the product are the same matrix, so that it is split once, into
/// [high, low, high, high]. The last three of these times the first three give the three products. Of a
/// symmetric matrix with a diagonal of about 1 no element of the factor is too large for a half.

#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "kernels/getrf/split_products.cuh"
#include "kernels/potrf/recursive_cholesky.cuh"
#include "kernels/simt/simt.hpp"
#include "kernels/vendor/cuda_blas.hpp"

namespace gaussweep::cuda::tiles {

/// The rows x inner matrix at `p` as rows x 4 inner halves; `Plain`: the nearest halves alone. A thread takes
/// four elements of a column at a time. @pre 16-byte alignment of all columns; rows % 8 == 0, which is how
/// far apart the halves' columns are
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

/// Where the ways part with these updates.
inline Widths widths_of_halves() {
  Widths widths;
  widths.one_launch = 4608;
  widths.panel = 512;
  return widths;
}

/// The halves of some columns, and products of them.
class SplitUpdates {
 public:
  /// `plain`: products of halves alone, a third of the work, exact to 2^-11 of what is subtracted. `memory`:
  /// gaussweep::tiles::split_bytes(n).
  SplitUpdates(Context& context, std::int64_t n, Workspace& memory, bool plain = false)
      : context_(context),
        plain_(plain),
        handles_(vendor_handles(context)),
        columns_(static_cast<int>(gaussweep::tiles::split_columns(n))),
        halves_(memory.take<__half>(4 * gaussweep::tiles::padded(n) * columns_)) {}

  /// Subtracts P P^T from the `count` columns at c: their lower triangle and what is below. P is the
  /// rows x inner matrix at p, whose columns are `ld` apart as those of c. Writes to the upper triangle too.
  void subtract(int rows, int inner, const float* p, int count, float* c, std::int64_t ld) {
    const int most = plain_ ? 4 * columns_ : columns_;
    for (int done = 0; done < inner; done += most) {
      const Panel panel{rows, std::min(most, inner - done)};
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
    const std::int64_t each = 4 * 256 * 2;  // elements of a block
    const std::int64_t all = static_cast<std::int64_t>(panel.height) * panel.inner;
    const auto blocks = static_cast<unsigned>((all + each - 1) / each);
    simt::launch(context_, plain_ ? split_panel<true, __half> : split_panel<false, __half>, dim3(blocks),
                 dim3(256), 0, p, ldp, panel.height, panel.inner, halves_);
  }
  void multiply(const Panel& panel, int count, float* c, std::int64_t ldc) {
    const int below = panel.height - count;
    if (below > 0) multiply(panel, {count, 0, below, count}, 1, c, ldc);
    // The triangle: squares on its diagonal, then what is beside pairs of these, pairs of pairs, ...
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
  /// So many parts, each where the last one's rows and columns end.
  void multiply(const Panel& panel, const Part& part, int count, float* c, std::int64_t ldc) {
    const std::int64_t ld = panel.height;
    const std::int64_t step = part.row + part.rows - part.column;
    const __half* const left = halves_ + part.row + (plain_ ? 0 : panel.inner * ld);
    const __half* const right = halves_ + part.column;
    vendor::gemm_batch_of_halves(handles_, part.rows, part.columns, (plain_ ? 1 : 3) * panel.inner,
                                 -product_scale, left, ld, step, right, ld, step, 1.0f,
                                 c + part.row + part.column * ldc, ldc, step * (ldc + 1), count);
  }

  Context& context_;
  bool plain_;
  VendorHandles& handles_;
  int columns_;  // that are split into four halves each at once
  __half* halves_;
};

}  // namespace gaussweep::cuda::tiles
