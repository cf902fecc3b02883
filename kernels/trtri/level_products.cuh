#pragma once
/// The products of one level of trtri/levels, all pairs of it in one launch. They are in tiles, each over the
/// inner indices that count for it, so that no operation meets the zeros of a triangle.

#include <cmath>
#include <cstdint>

#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

/// Which inner indices count for a tile of a product with a triangle: from those of its rows or columns on,
/// or up to them. First the product with the triangle on the right, then that with the one on the left.
enum class Inner { from_columns, up_to_rows, up_to_columns, from_rows };

/// C = factor A B, of the same shape for each of some pairs. The last pair may have fewer rows of C (in the
/// lower triangle) or columns (in the upper one). All are multiples of 64.
template <class T>
struct LevelProduct {
  const T* a;
  std::int64_t lda, a_step;  ///< from one pair's to the next one's
  const T* b;
  std::int64_t ldb, b_step;
  T* c;
  std::int64_t ldc, c_step;
  std::int64_t a_next, b_next, c_next;  ///< from one triangle's to the next one's
  int rows, columns, inner;
  int last_rows, last_columns;
  Inner counts;
  T factor;

  /// Whether it counts for columns of C, and not for rows.
  __host__ __device__ bool is_by_columns() const {
    return counts == Inner::from_columns || counts == Inner::up_to_columns;
  }
};

constexpr int product_threads = 128;
constexpr int at_once = 16;  ///< inner indices in shared memory

/// Tile x Tile elements of C by four warps, each a quarter as 16 x 8 pieces. A lane has what it has of a
/// product on tensor cores (triangle_tiles.cuh), also in float, where it adds up its elements one by one.
template <class T, int Tile>
struct TileProduct {
  static constexpr int half = Tile / 2;
  static constexpr int down = half / 16;
  static constexpr int across = half / 8;
  static constexpr int a_stride = Tile + 2;  // 2 mod 8: no two lanes that load a fragment in one bank
  static constexpr int b_stride = at_once + 8;
  static constexpr int share = Tile * at_once / product_threads;

  T sums[down][across][4];
  T next_a[share], next_b[share];

  __device__ __forceinline__ void load(const LevelProduct<T>& p, const T* a, const T* b, int k) {
    const int t = static_cast<int>(threadIdx.x);
    GAUSSWEEP_UNROLL
    for (int e = 0; e < share; ++e) {
      const int i = e * product_threads + t;
      next_a[e] = a[i % Tile + (k + i / Tile) * p.lda];
      next_b[e] = b[k + i % at_once + i / at_once * p.ldb];
    }
  }
  __device__ __forceinline__ void store(T* a, T* b) const {
    const int t = static_cast<int>(threadIdx.x);
    GAUSSWEEP_UNROLL
    for (int e = 0; e < share; ++e) {
      const int i = e * product_threads + t;
      a[i / Tile * a_stride + i % Tile] = next_a[e];
      b[i / at_once * b_stride + i % at_once] = next_b[e];
    }
  }
  __device__ __forceinline__ void multiply(const T* a, const T* b) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int g = lane / 4;
    const int t = lane % 4;
    const T* const own_a = a + warp % 2 * half + g;
    if constexpr (sizeof(T) == sizeof(double)) {
      const T* const own_b = b + (warp / 2 * half + g) * b_stride;
      GAUSSWEEP_UNROLL
      for (int k = 2 * t; k < at_once; k += 8) {
        double left[down][4];
        GAUSSWEEP_UNROLL
        for (int m = 0; m < down; ++m) {
          GAUSSWEEP_UNROLL
          for (int e = 0; e < 4; ++e) left[m][e] = own_a[(k + e / 2) * a_stride + m * 16 + e % 2 * 8];
        }
        GAUSSWEEP_UNROLL
        for (int n = 0; n < across; ++n) {
          double right[2];
          lu::load_two(own_b + n * 8 * b_stride + k, right[0], right[1]);
          GAUSSWEEP_UNROLL
          for (int m = 0; m < down; ++m) lu::multiply_16x8(sums[m][n], left[m], right);
        }
      }
    } else {
      const T* const own_b = b + (warp / 2 * half + 2 * t) * b_stride;
      GAUSSWEEP_UNROLL
      for (int k = 0; k < at_once; ++k) {
        T left[down][2];
        GAUSSWEEP_UNROLL
        for (int m = 0; m < down; ++m) {
          GAUSSWEEP_UNROLL
          for (int e = 0; e < 2; ++e) left[m][e] = own_a[k * a_stride + m * 16 + e * 8];
        }
        GAUSSWEEP_UNROLL
        for (int n = 0; n < across; ++n) {
          GAUSSWEEP_UNROLL
          for (int q = 0; q < 2; ++q) {
            const T right = own_b[(n * 8 + q) * b_stride + k];
            GAUSSWEEP_UNROLL
            for (int m = 0; m < down; ++m) {
              GAUSSWEEP_UNROLL
              for (int e = 0; e < 2; ++e) {
                sums[m][n][2 * e + q] = std::fma(left[m][e], right, sums[m][n][2 * e + q]);
              }
            }
          }
        }
      }
    }
  }
};

/// A block a tile of C: gridDim.x tiles of a pair, column by column, gridDim.y pairs, gridDim.z triangles.
template <class T, int Tile>
__global__ void __launch_bounds__(product_threads) multiply_pairs(LevelProduct<T> p) {
  using Product = TileProduct<T, Tile>;
  __shared__ __align__(16) T a_there[2][at_once * Product::a_stride];
  __shared__ __align__(16) T b_there[2][Tile * Product::b_stride];
  const int pair = static_cast<int>(blockIdx.y);
  const int row = static_cast<int>(blockIdx.x) % (p.rows / Tile) * Tile;
  const int column = static_cast<int>(blockIdx.x) / (p.rows / Tile) * Tile;
  if (blockIdx.y + 1 == gridDim.y && (row >= p.last_rows || column >= p.last_columns)) return;
  int begin = 0, end = p.inner;
  if (p.counts == Inner::from_columns) begin = column;
  if (p.counts == Inner::from_rows) begin = row;
  if (p.counts == Inner::up_to_columns) end = column + Tile;
  if (p.counts == Inner::up_to_rows) end = row + Tile;
  const auto triangle = static_cast<std::int64_t>(blockIdx.z);
  const T* const a = p.a + pair * p.a_step + triangle * p.a_next + row;
  const T* const b = p.b + pair * p.b_step + triangle * p.b_next + column * p.ldb;

  Product product;
  GAUSSWEEP_UNROLL
  for (int m = 0; m < Product::down; ++m) {
    GAUSSWEEP_UNROLL
    for (int n = 0; n < Product::across; ++n) {
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 4; ++e) product.sums[m][n][e] = T(0);
    }
  }
  // The triangle's diagonal comes last (levels.cuh, multiply_by_strips).
  const bool backwards = p.counts == Inner::from_columns || p.counts == Inner::from_rows;
  int k = backwards ? end - at_once : begin;
  product.load(p, a, b, k);
  product.store(a_there[0], b_there[0]);
  __syncthreads();
  int turn = 0;
  GAUSSWEEP_ROLLED
  for (int left = (end - begin) / at_once; left > 0; --left, turn ^= 1) {
    const bool more = left > 1;
    k += backwards ? -at_once : at_once;
    if (more) product.load(p, a, b, k);
    product.multiply(a_there[turn], b_there[turn]);
    if (more) product.store(a_there[turn ^ 1], b_there[turn ^ 1]);
    __syncthreads();
  }

  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  T* const c = p.c + pair * p.c_step + triangle * p.c_next + row + warp % 2 * Product::half + lane / 4 +
               (column + warp / 2 * Product::half + lane % 4 * 2) * p.ldc;
  GAUSSWEEP_UNROLL
  for (int n = 0; n < Product::across; ++n) {
    GAUSSWEEP_UNROLL
    for (int q = 0; q < 2; ++q) {
      GAUSSWEEP_UNROLL
      for (int m = 0; m < Product::down; ++m) {
        GAUSSWEEP_UNROLL
        for (int e = 0; e < 2; ++e) {
          c[m * 16 + e * 8 + (n * 8 + q) * p.ldc] = p.factor * product.sums[m][n][2 * e + q];
        }
      }
    }
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
