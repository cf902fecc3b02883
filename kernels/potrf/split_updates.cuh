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
  widths.one_launch = 3072;
  widths.panel = 512;
  widths.block = gaussweep::tiles::split_columns;
  widths.beside = 64;
  return widths;
}

/// The halves of three panels, and products of them; some of these beside what the device's stream does.
class SplitUpdates {
 public:
  /// `plain`: products of halves alone, a third of the work, exact to 2^-11 of what is subtracted. `memory`:
  /// gaussweep::tiles::split_bytes(n).
  SplitUpdates(Context& context, std::int64_t n, Workspace& memory, bool plain = false)
      : context_(context),
        plain_(plain),
        handles_(vendor_handles(context)),
        size_(4 * gaussweep::tiles::padded(n) * gaussweep::tiles::split_columns),
        halves_(memory.take<__half>(gaussweep::tiles::split_buffers * size_)) {}

  /// Makes `rows` x `inner` at p panel number `which`.
  void split(int which, int rows, int inner, const float* p, std::int64_t ldp) {
    context_.stage("split");
    panels_[which] = {halves_ + which * size_, rows, inner};
    const std::int64_t each = 4 * 256 * 2;  // elements of a block
    const auto blocks = static_cast<unsigned>((static_cast<std::int64_t>(rows) * inner + each - 1) / each);
    simt::launch(context_, plain_ ? split_panel<true, __half> : split_panel<false, __half>, dim3(blocks),
                 dim3(256), 0, p, ldp, rows, inner, halves_ + which * size_);
  }
  /// Subtracts P P^T from the `count` columns at c, whose first row is P's row `offset`: their lower triangle
  /// and what is below. Writes to the upper triangle too.
  void subtract(int which, int offset, int count, float* c, std::int64_t ldc, bool beside) {
    context_.stage("split_product");
    Panel panel = panels_[which];
    const Target to{c, ldc, beside};
    const int below = panel.height - offset - count;
    if (below > 0) multiply(panel, offset, {count, 0, below, count}, 1, to);
    // The triangle: squares on its diagonal, then what is beside pairs of these, pairs of pairs, ...
    const int squares = count / square, rest = count % square;
    if (squares > 0) multiply(panel, offset, {0, 0, square, square}, squares, to);
    if (rest > 0) multiply(panel, offset, {squares * square, squares * square, rest, rest}, 1, to);
    for (int half = square; half < count; half *= 2) {
      const int pairs = count / (2 * half);
      const int done = 2 * half * pairs;
      if (pairs > 0) multiply(panel, offset, {half, 0, half, half}, pairs, to);
      if (count - done > half) multiply(panel, offset, {done + half, done, count - done - half, half}, 1, to);
    }
  }
  /// What is subtracted `beside` begins after what was asked of the device's stream up to here.
  void fork() { handles_.fork(); }
  /// The device's stream waits for it.
  void join() { handles_.join(); }

 private:
  static constexpr int square = 512;
  static constexpr float product_scale = 1 / (lu::detail::split_scale * lu::detail::split_scale);
  struct Panel {
    const __half* data;
    int height, inner;
  };
  struct Part {
    int row, column, rows, columns;
  };
  struct Target {
    float* c;
    std::int64_t ld;
    bool beside;
  };

  /// So many parts, each where the last one's rows and columns end.
  void multiply(const Panel& panel, int offset, const Part& part, int count, const Target& to) {
    const std::int64_t ld = panel.height;
    const std::int64_t step = part.row + part.rows - part.column;
    const __half* const left = panel.data + offset + part.row + (plain_ ? 0 : panel.inner * ld);
    const __half* const right = panel.data + offset + part.column;
    vendor::gemm_batch_of_halves(handles_, to.beside, part.rows, part.columns, (plain_ ? 1 : 3) * panel.inner,
                                 -product_scale, left, ld, step, right, ld, step, 1.0f,
                                 to.c + part.row + part.column * to.ld, to.ld, step * (to.ld + 1), count);
  }

  Context& context_;
  bool plain_;
  VendorHandles& handles_;
  std::int64_t size_;
  __half* halves_;
  Panel panels_[gaussweep::tiles::split_buffers]{};
};

}  // namespace gaussweep::cuda::tiles
