#pragma once
/// Products of the float LU in gesv/mixed_gmres on tensor cores: every float is split into two halves
/// (half-precision numbers), and three of the four partial products are computed. The product of the two low
/// halves is left out, because it is of the order of the splitting error.
///
/// A float x is replaced by hi + lo: hi is x rounded to half, lo is x - hi rounded to half. Together they
/// keep 22 of 24 bits. The sum hi hi + hi lo + lo hi is one product of half-precision matrices with three
/// times the k range, accumulated in float. Tensor cores truncate instead of rounding when they add to the
/// accumulator. The small products (hi lo and lo hi) therefore come first, while the accumulator is small.
/// After every `max_split_k` terms, cuBLAS adds the sum to C with rounding.
///
/// The range of halves is 2^-24 to 65504. L and U are scaled by 2^4, so that `lo` does not underflow for
/// elements of about 1. Elements above 4094 become infinite, which then shows in the factors. (|L| <= 1 with
/// pivots from all rows, but |L| may be much larger with pivots from a window, as in window_panel.cuh.)
/// Source: H. Ootomo, R. Yokota, Recovering single precision accuracy from Tensor Cores while surpassing the
/// FP32 theoretical peak performance, IJHPCA 36, 2022.

#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/getrf/lu_updates.cuh"
#include "kernels/getrf/workspaces.hpp"
#include "kernels/simt/simt.hpp"
#include "kernels/vendor/cuda_blas.hpp"

namespace gaussweep::cuda::lu {

namespace detail {

constexpr float split_scale = 16;

/// A scaled float as two halves.
struct HalfPair {
  __half high, low;
};
__device__ __forceinline__ HalfPair split(float value) {
  const __half high = __float2half_rn(value);
  return {high, __float2half_rn(value - __half2float(high))};
}
/// Four consecutive elements of a column, as halves.
struct alignas(8) FourHalves {
  __half2 first, second;
};
/// Splits four consecutive elements of a column, scaled by split_scale; elements from `count` on are taken as
/// 0.
__device__ __forceinline__ void split_four(const float* from, int count, FourHalves& high, FourHalves& low) {
  float value[4] = {0, 0, 0, 0};
  if (count >= 4) {
    const auto four = *reinterpret_cast<const float4*>(from);
    value[0] = four.x, value[1] = four.y, value[2] = four.z, value[3] = four.w;
  } else {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      if (i < count) value[i] = from[i];
    }
  }
  HalfPair part[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) part[i] = split(value[i] * split_scale);
  high = {__halves2half2(part[0].high, part[1].high), __halves2half2(part[2].high, part[3].high)};
  low = {__halves2half2(part[0].low, part[1].low), __halves2half2(part[2].low, part[3].low)};
}

}  // namespace detail

/// The first `left_blocks` blocks write L (m x k) as m x 3k halves [low, high, high] to `left` (leading
/// dimension ld_left). The other blocks write [high; low; high] of each column of U (k x n) to `right` (3k x
/// n). The product left * right is low high + high low + high high. A thread processes four elements of a
/// column at a time. @pre 16-byte alignment of all columns; k % 4 == 0
template <class Half>
__global__ void __launch_bounds__(256)
    split_operands(const float* l, std::int64_t ldl, int m, Half* left, std::int64_t ld_left, int left_blocks,
                   const float* u, std::int64_t ldu, int n, Half* right, int k) {
  const bool is_left = static_cast<int>(blockIdx.x) < left_blocks;
  const int block = is_left ? static_cast<int>(blockIdx.x) : static_cast<int>(blockIdx.x) - left_blocks;
  const int blocks = is_left ? left_blocks : static_cast<int>(gridDim.x) - left_blocks;
  const unsigned quads_per_column =
      static_cast<unsigned>(is_left ? (m + 3) / 4 : k / 4);  // groups of four per column
  const unsigned quads = quads_per_column * static_cast<unsigned>(is_left ? k : n);
  const auto step = static_cast<unsigned>(blocks) * 256u;
  for (unsigned i = static_cast<unsigned>(block) * 256u + threadIdx.x; i < quads; i += step) {
    const auto column = static_cast<std::int64_t>(i / quads_per_column);
    const int row = static_cast<int>(i % quads_per_column) * 4;
    detail::FourHalves high, low;
    if (is_left) {
      detail::split_four(l + row + column * ldl, m - row, high, low);
      Half* const to = left + row + column * ld_left;
      const std::int64_t part_stride = k * ld_left;
      *reinterpret_cast<detail::FourHalves*>(to) = low;
      *reinterpret_cast<detail::FourHalves*>(to + part_stride) = high;
      *reinterpret_cast<detail::FourHalves*>(to + 2 * part_stride) = high;
    } else {
      detail::split_four(u + row + column * ldu, 4, high, low);
      Half* const to = right + row + column * (3 * static_cast<std::int64_t>(k));
      *reinterpret_cast<detail::FourHalves*>(to) = high;
      *reinterpret_cast<detail::FourHalves*>(to + k) = low;
      *reinterpret_cast<detail::FourHalves*>(to + 2 * k) = high;
    }
  }
}

/// The class `Products` of RecursiveLu (lu_products.cuh) that computes a preconditioner's products by split
/// halves.
class SplitProducts {
 public:
  /// `memory` has gaussweep::lu::split_bytes(n) bytes for a factorisation of order n.
  SplitProducts(Context& context, std::int64_t n, Workspace& memory)
      : context_(context),
        handles_(vendor_handles(context)),
        left_(memory.take<__half>(gaussweep::lu::split_elements(n))),
        right_(memory.take<__half>(gaussweep::lu::split_elements(n))),
        inverse_(memory.take<float>(max_solve_rows_per_launch * max_solve_rows_per_launch)),
        inverses_(memory.take<__half>(n / max_solve_rows_per_launch * inverse_elements)),
        is_inverted_(static_cast<std::size_t>(n / max_solve_rows_per_launch)) {}

  static constexpr bool preconditions = true;

  /// Computes C -= L U (C is m x n). Returns false, and does nothing, if k is too small or no multiple of 8.
  /// The product is six times as fast if m is a multiple of 8.
  bool subtract(int m, int n, int k, const float* l, std::int64_t ldl, const float* u, std::int64_t ldu,
                float* c, std::int64_t ldc) {
    if (k < gaussweep::lu::min_split_k || k % 8 != 0) return false;
    const std::int64_t ld_left = (m + 7) / 8 * 8;
    for (int k_begin = 0; k_begin < k; k_begin += gaussweep::lu::max_split_k) {
      const int k_count = std::min(k - k_begin, gaussweep::lu::max_split_k);
      split(l + k_begin * ldl, ldl, m, left_, ld_left, u + k_begin, ldu, n, k_count);
      context_.stage("split_product");
      vendor::gemm_fp16(handles_, m, n, 3 * k_count, -product_scale, left_, ld_left, right_, 3 * k_count,
                        1.0f, c, ldc);
    }
    return true;
  }

  /// Computes B = L^-1 B (B is max_solve_rows_per_launch x columns). `block`: the index of L among the
  /// diagonal blocks of max_solve_rows_per_launch rows. With more than 1024 columns, multiplies by the
  /// inverse of L. Keeps the inverse for later calls, because each level of the recursion solves with L once.
  void solve(int block, const float* l, std::int64_t ldl, float* b, std::int64_t ldb, int columns) {
    constexpr int columns_per_block = 8;
    if (columns <= 1024) {
      context_.stage("solve");
      simt::launch(context_, substitute<float, columns_per_block>,
                   dim3(blocks_of(columns, columns_per_block)), dim3(max_solve_rows_per_launch), 0, l, ldl,
                   max_solve_rows_per_launch, b, ldb, columns, /*invert=*/false, /*scale=*/nullptr);
      return;
    }
    __half* const inverse = inverses_ + block * inverse_elements;
    const bool is_inverted = is_inverted_[static_cast<std::size_t>(block)];
    if (!is_inverted) {
      context_.stage("invert");
      simt::launch(context_, substitute<float, columns_per_block>,
                   dim3(blocks_of(max_solve_rows_per_launch, columns_per_block)),
                   dim3(max_solve_rows_per_launch), 0, l, ldl, max_solve_rows_per_launch, inverse_,
                   /*ldb=*/max_solve_rows_per_launch, /*columns=*/max_solve_rows_per_launch, /*invert=*/true,
                   /*scale=*/nullptr);
      is_inverted_[static_cast<std::size_t>(block)] = true;
    }
    // Splits B and, if it is new, the inverse (m rows).
    split(inverse_, /*ldl=*/max_solve_rows_per_launch, /*m=*/is_inverted ? 0 : max_solve_rows_per_launch,
          inverse, /*ld_left=*/max_solve_rows_per_launch, b, ldb, columns,
          /*k_count=*/max_solve_rows_per_launch);
    context_.stage("solve_product");
    vendor::gemm_fp16(handles_, max_solve_rows_per_launch, columns, 3 * max_solve_rows_per_launch,
                      product_scale, inverse, max_solve_rows_per_launch, right_,
                      3 * max_solve_rows_per_launch, 0.0f, b, ldb);
  }

 private:
  /// Undoes split_scale of both operands.
  static constexpr float product_scale = 1 / (detail::split_scale * detail::split_scale);
  static constexpr std::int64_t inverse_elements = 3 * max_solve_rows_per_launch * max_solve_rows_per_launch;
  static unsigned blocks_of(std::int64_t count, int per_block) {
    return static_cast<unsigned>((count + per_block - 1) / per_block);
  }

  /// Splits `l` (m x k_count) into `left` and `u` (k_count x n) into right_.
  void split(const float* l, std::int64_t ldl, int m, __half* left, std::int64_t ld_left, const float* u,
             std::int64_t ldu, int n, int k_count) {
    context_.stage("split");
    constexpr std::int64_t elements_per_block = 4 * 256 * 2;  // two groups of four for each of 256 threads
    const unsigned left_blocks = blocks_of(static_cast<std::int64_t>(m) * k_count, elements_per_block);
    const unsigned right_blocks = blocks_of(static_cast<std::int64_t>(n) * k_count, elements_per_block);
    simt::launch(context_, split_operands<__half>, dim3(left_blocks + right_blocks), dim3(256), 0, l, ldl, m,
                 left, ld_left, static_cast<int>(left_blocks), u, ldu, n, right_, k_count);
  }

  Context& context_;
  VendorHandles& handles_;
  __half* left_;
  __half* right_;
  float* inverse_;                 // the inverse of one diagonal block
  __half* inverses_;               // the split inverses of all diagonal blocks
  std::vector<bool> is_inverted_;  // per diagonal block: its inverse is in inverses_
};

}  // namespace gaussweep::cuda::lu
