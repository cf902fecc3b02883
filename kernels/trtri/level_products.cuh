#pragma once
/// Computes all block products of one level of trtri/levels in one launch. A level joins pairs of
/// neighbouring inverses on the diagonal (levels.cuh); every pair needs two products, one after the other.
/// Each C tile loops only over the k range where the triangle is nonzero.

#include <cmath>
#include <cstdint>

#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

/// The k range of a C tile in a product with a triangle. It begins or ends at the indices of the tile's rows
/// or columns.
enum class KRange {
  from_columns,   ///< B is a lower triangle
  up_to_rows,     ///< A is a lower triangle
  up_to_columns,  ///< B is an upper triangle
  from_rows       ///< A is an upper triangle
};

/// The products C = factor A B of all pairs of a level (levels.cuh), which have the same shape. In the last
/// pair, C may have fewer rows (lower triangle) or fewer columns (upper triangle). A `_step` is the distance,
/// in elements, from the operand of one pair to the operand of the next pair. A `_triangle_step` is the
/// distance to the operand of the next triangle.
template <class T>
struct LevelProduct {
  const T* a;
  std::int64_t lda, a_step;
  const T* b;
  std::int64_t ldb, b_step;
  T* c;
  std::int64_t ldc, c_step;
  T* zeros;  ///< the block that mirrors C in the other triangle and is set to 0, or null
  std::int64_t ldz, z_step;
  std::int64_t a_triangle_step, b_triangle_step, c_triangle_step, z_triangle_step;
  int rows, columns, k;         ///< C is rows x columns, A is rows x k
  int last_rows, last_columns;  ///< the size of C in the last pair
  KRange k_range;
  T factor;
  T max_abs_product;   ///< *exceeds_limit becomes 1 if an |element| of A B exceeds this or is NaN
  int* exceeds_limit;  ///< may be null

  __device__ bool is_within(T c) const { return std::fabs(c) <= max_abs_product; }

  /// Returns true if the k range depends on C's columns, false if it depends on its rows.
  __host__ __device__ bool is_by_columns() const {
    return k_range == KRange::from_columns || k_range == KRange::up_to_columns;
  }
};

/// A C tile and its k range. The tile is empty if it has no rows or no columns.
struct ProductTile {
  int pair, row, column, rows, columns;
  int begin, end;      ///< the k range
  bool from_diagonal;  ///< the k range begins, instead of ends, at the triangle's diagonal

  __device__ bool is_nonempty() const { return rows > 0 && columns > 0; }
  /// Returns the number of k tiles of this depth; the last one may be smaller. With `from_diagonal` the k
  /// tiles run backwards, so that the triangle's diagonal comes last. Its terms are the largest; smaller
  /// terms added after them would lose digits.
  __device__ int k_tiles(int depth) const { return (end - begin + depth - 1) / depth; }
  /// Returns the first k index of the k tile that is multiplied first.
  __device__ int first(int depth) const {
    return from_diagonal ? begin + (k_tiles(depth) - 1) * depth : begin;
  }
  /// Returns the distance in k from one k tile to the next one.
  __device__ int step(int depth) const { return from_diagonal ? -depth : depth; }
};

/// The C tiles of a product, in the order in which thread blocks compute them. Tiles with the longest k range
/// start first. If all tiles run concurrently, a multiprocessor gets one tile with a long and one with a
/// short k range. A group is a tile row or tile column whose tiles have equal k ranges.
template <int Order>
struct TileGrid {
  int pairs;
  int group_size;  ///< tiles per group
  int groups;      ///< groups per pair
  int wave;        ///< number of tiles that start together: the number of multiprocessors
  template <class T>
  TileGrid(const LevelProduct<T>& p, int count, int multiprocessors) : pairs(count), wave(multiprocessors) {
    // A single pair is also the last pair, which may be smaller.
    const int tile_rows = ((count == 1 ? p.last_rows : p.rows) + Order - 1) / Order;
    const int tile_columns = ((count == 1 ? p.last_columns : p.columns) + Order - 1) / Order;
    group_size = p.is_by_columns() ? tile_rows : tile_columns;
    groups = p.is_by_columns() ? tile_columns : tile_rows;
  }
  __host__ __device__ int tile_count() const { return pairs * group_size * groups; }

  template <class T>
  __device__ ProductTile tile(const LevelProduct<T>& p, int index) const {
    return at(p, schedule_rank(index, tile_count()));
  }
  /// Returns the rank of the tile that thread block `index` computes. Rank 0 has the longest k range. If
  /// there are at most three waves, the second wave runs backwards: it gives the multiprocessor with the
  /// longest tile a short one.
  __device__ int schedule_rank(int index, int tiles) const {
    if (tiles > 3 * wave || index < wave || index >= 2 * wave) return index;
    return wave + (tiles < 2 * wave ? tiles : 2 * wave) - 1 - index;
  }
  /// Returns the tile of rank `index`.
  template <class T>
  __device__ ProductTile at(const LevelProduct<T>& p, int index) const {
    const bool by_columns = p.is_by_columns();
    ProductTile tile;
    tile.from_diagonal = p.k_range == KRange::from_columns || p.k_range == KRange::from_rows;
    tile.pair = index % pairs;
    const int index_in_group = index / pairs % group_size, group = index / pairs / group_size;
    // Group 0 has the longest k range: the first tile row or column if k ranges begin at the diagonal, the
    // last one if they end there.
    const int position = tile.from_diagonal ? group : groups - 1 - group;
    tile.row = (by_columns ? index_in_group : position) * Order;
    tile.column = (by_columns ? position : index_in_group) * Order;
    const bool last = tile.pair + 1 == pairs;
    const auto smaller_of = [](int a, int b) { return a < b ? a : b; };
    tile.rows = smaller_of((last ? p.last_rows : p.rows) - tile.row, Order);
    tile.columns = smaller_of((last ? p.last_columns : p.columns) - tile.column, Order);
    const int diagonal = by_columns ? tile.column : tile.row;
    tile.begin = tile.from_diagonal ? diagonal : 0;
    tile.end = tile.from_diagonal ? p.k : diagonal + (by_columns ? tile.columns : tile.rows);
    return tile;
  }
};

constexpr int tile_depth = 16;  ///< depth of a k tile

/// Writes zeros to the mirror image of a C tile in the other triangle, with the first `threads` threads of a
/// block.
template <class T>
__device__ __forceinline__ void write_zeros(const LevelProduct<T>& p, std::int64_t triangle,
                                            const ProductTile& tile, int threads) {
  if (p.zeros == nullptr) return;
  T* const zeros =
      p.zeros + tile.pair * p.z_step + triangle * p.z_triangle_step + tile.column + tile.row * p.ldz;
  for (int i = static_cast<int>(threadIdx.x); i < tile.rows * tile.columns; i += threads) {
    zeros[i % tile.columns + i / tile.columns * p.ldz] = T(0);
  }
}

/// Checks a level's first product, computed by the vendor's library, for large elements (levels.cuh explains
/// why). Writes the zeros that mirror the second product. One thread block per tile.
template <class T>
__global__ void __launch_bounds__(256)
    check_and_write_zeros(LevelProduct<T> first, LevelProduct<T> second, TileGrid<64> grid) {
  const ProductTile tile = grid.tile(second, static_cast<int>(blockIdx.x));
  if (!tile.is_nonempty()) return;
  write_zeros(second, /*triangle=*/0, tile, 256);
  if (first.exceeds_limit == nullptr) return;
  const T* const c = first.c + tile.pair * first.c_step + tile.row + tile.column * first.ldc;
  bool is_within = true;
  for (int e = static_cast<int>(threadIdx.x); e < tile.rows * tile.columns; e += 256) {
    is_within = first.is_within(c[e % tile.rows + e / tile.rows * first.ldc]) && is_within;
  }
  if (!is_within) *first.exceeds_limit = 1;
}

/// Computes a C tile of Order x Order elements. The tile is split into one part per warp: two parts one below
/// the other, and Threads / 64 next to each other. A warp computes its part in mma fragments of 16 x 8. In
/// float, FMA instructions compute sums in the same fragment layout (triangle_tiles.cuh). k tiles pass
/// through a ring buffer of `Stages` stages in shared memory.
template <class T, int Order, int Threads, int Stages>
class LevelTileProduct {
 public:
  static constexpr std::size_t bytes =
      sizeof(T) * Stages * (tile_depth * (Order + 2) + Order * (tile_depth + 8));

  __device__ __forceinline__ LevelTileProduct(const LevelProduct<T>& p, std::int64_t triangle,
                                              const ProductTile& tile)
      : a_(p.a + tile.pair * p.a_step + triangle * p.a_triangle_step + tile.row + a_row() +
           (tile.first(tile_depth) + a_k()) * p.lda),
        b_(p.b + tile.pair * p.b_step + triangle * p.b_triangle_step + tile.first(tile_depth) + b_k() +
           (tile.column + b_column()) * p.ldb),
        a_step_(tile.step(tile_depth) * p.lda),
        a_copy_stride_(a_copy_step * p.lda),
        b_copy_stride_(b_copy_step * p.ldb),
        step_(tile.step(tile_depth)),
        rows_(tile.rows),
        columns_(tile.columns),
        remaining_k_(tile.end - tile.first(tile_depth)) {
    GAUSSWEEP_UNROLL
    for (int m = 0; m < tiles_down; ++m) {
      GAUSSWEEP_UNROLL
      for (int n = 0; n < tiles_across; ++n) {
        GAUSSWEEP_UNROLL
        for (int e = 0; e < 4; ++e) sums_[m][n][e] = T(0);
      }
    }
  }

  /// Multiplies and accumulates `count` k tiles.
  __device__ __forceinline__ void add(int count) {
    if (rows_ == Order && columns_ == Order) {
      add</*IsFullTile=*/true>(count);
    } else {
      add</*IsFullTile=*/false>(count);
    }
  }
  /// Calls store(row, column, sum) for all sums of the lane.
  template <class Store>
  __device__ __forceinline__ void for_each(Store store) const {
    GAUSSWEEP_UNROLL
    for (int n = 0; n < tiles_across; ++n) {
      GAUSSWEEP_UNROLL
      for (int q = 0; q < 2; ++q) {
        GAUSSWEEP_UNROLL
        for (int m = 0; m < tiles_down; ++m) {
          GAUSSWEEP_UNROLL
          for (int e = 0; e < 2; ++e) {
            store(part_row() + quad() + m * 16 + e * 8, part_column() + lane_of_quad() * 2 + n * 8 + q,
                  sums_[m][n][2 * e + q]);
          }
        }
      }
    }
  }

 private:
  template <bool IsFullTile>
  __device__ __forceinline__ void add(int count) {
    T* const ring = simt::dynamic_shared<T>();
    for (int k_tile = 0; k_tile < Stages - 1; ++k_tile)
      load<IsFullTile>(k_tile < count, ring + k_tile * stage_elements);
    int current = 0, previous = Stages - 1;  // stages of the current and the previous k tile
    GAUSSWEEP_ROLLED
    for (int k_tile = 0; k_tile < count; ++k_tile) {
      simt::await_copy_groups<Stages - 2>();
      __syncthreads();
      load<IsFullTile>(k_tile + Stages - 1 < count, ring + previous * stage_elements);
      multiply<IsFullTile>(ring + current * stage_elements, ring + current * stage_elements + b_begin);
      previous = current;
      current = current + 1 == Stages ? 0 : current + 1;
    }
  }

  static constexpr int part_rows = Order / 2, part_columns = Order / (Threads / 64);
  static constexpr int tiles_down = part_rows / 16, tiles_across = part_columns / 8;
  static constexpr int a_stride = Order + 2;  // 2 mod 8 avoids bank conflicts in fragment loads
  static constexpr int b_stride = tile_depth + 8;
  static constexpr int b_begin = tile_depth * a_stride;
  static constexpr int stage_elements = b_begin + Order * b_stride;
  static constexpr int copies_per_thread = Order * tile_depth / Threads;  // elements per thread and operand
  // A thread's copies are this far apart: in k for A, in columns for B.
  static constexpr int a_copy_step = Threads / Order, b_copy_step = Threads / tile_depth;
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ static int warp() { return thread() / 32; }
  __device__ static int quad() { return thread() % 32 / 4; }
  __device__ static int lane_of_quad() { return thread() % 4; }
  // The first row and column of the warp's part of the C tile.
  __device__ static int part_row() { return warp() % 2 * part_rows; }
  __device__ static int part_column() { return warp() / 2 * part_columns; }
  // The indices of the first elements that the thread copies.
  __device__ static int a_row() { return thread() % Order; }
  __device__ static int a_k() { return thread() / Order; }
  __device__ static int b_k() { return thread() % tile_depth; }
  __device__ static int b_column() { return thread() / tile_depth; }

  /// Starts to copy the next k tile if `exists`. Elements beyond the k range are set to 0. Rows and columns
  /// beyond the tile keep old contents, which only reach sums that are not stored.
  template <bool IsFullTile>
  __device__ __forceinline__ void load(bool exists, T* to) {
    if (exists) {
      if (remaining_k_ >= tile_depth) {
        copy<IsFullTile>(to, [](int) { return true; });
      } else {
        copy<IsFullTile>(to, [this](int k) { return k < remaining_k_; });
      }
      a_ += a_step_;
      b_ += step_;
      remaining_k_ -= step_;
    }
    simt::end_copy_group();
  }
  template <bool IsFullTile, class InRange>
  __device__ __forceinline__ void copy(T* to, InRange in_range) const {
    T* const to_a = to + a_k() * a_stride + a_row();
    T* const to_b = to + b_begin + b_column() * b_stride + b_k();
    GAUSSWEEP_UNROLL
    for (int e = 0; e < copies_per_thread; ++e) {
      if (IsFullTile || a_row() < rows_) {
        simt::copy_or_zero(to_a + e * a_copy_step * a_stride, a_ + e * a_copy_stride_,
                           in_range(a_k() + e * a_copy_step));
      }
      if (IsFullTile || b_column() + e * b_copy_step < columns_) {
        simt::copy_or_zero(to_b + e * b_copy_step * b_stride, b_ + e * b_copy_stride_, in_range(b_k()));
      }
    }
  }
  /// Multiplies one k tile. Skips whole fragments beyond the C tile.
  template <bool IsFullTile>
  __device__ __forceinline__ void multiply(const T* a, const T* b) {
    const int rows = IsFullTile ? Order : rows_ - part_row(),
              columns = IsFullTile ? Order : columns_ - part_column();
    const T* const a_fragment = a + part_row() + quad();
    if constexpr (sizeof(T) == sizeof(double)) {
      const T* const b_fragment = b + (part_column() + quad()) * b_stride;
      GAUSSWEEP_UNROLL
      for (int step = 0; step < tile_depth; step += 8) {
        const int k = step + 2 * lane_of_quad();
        double left[tiles_down][4];
        GAUSSWEEP_UNROLL
        for (int m = 0; m < tiles_down; ++m) {
          GAUSSWEEP_UNROLL
          for (int e = 0; e < 4; ++e) left[m][e] = a_fragment[(k + e / 2) * a_stride + m * 16 + e % 2 * 8];
        }
        GAUSSWEEP_UNROLL
        for (int n = 0; n < tiles_across; ++n) {
          double right[2];
          lu::load_two(b_fragment + n * 8 * b_stride + k, right[0], right[1]);
          GAUSSWEEP_UNROLL
          for (int m = 0; m < tiles_down; ++m) {
            if (m * 16 < rows && n * 8 < columns) lu::multiply_16x8(sums_[m][n], left[m], right);
          }
        }
      }
    } else {
      const T* const b_fragment = b + (part_column() + 2 * lane_of_quad()) * b_stride;
      GAUSSWEEP_UNROLL
      for (int k = 0; k < tile_depth; ++k) {
        T left[tiles_down][2];
        GAUSSWEEP_UNROLL
        for (int m = 0; m < tiles_down; ++m) {
          GAUSSWEEP_UNROLL
          for (int e = 0; e < 2; ++e) left[m][e] = a_fragment[k * a_stride + m * 16 + e * 8];
        }
        GAUSSWEEP_UNROLL
        for (int n = 0; n < tiles_across; ++n) {
          GAUSSWEEP_UNROLL
          for (int q = 0; q < 2; ++q) {
            const T right = b_fragment[(n * 8 + q) * b_stride + k];
            GAUSSWEEP_UNROLL
            for (int m = 0; m < tiles_down; ++m) {
              GAUSSWEEP_UNROLL
              for (int e = 0; e < 2; ++e) {
                sums_[m][n][2 * e + q] = std::fma(left[m][e], right, sums_[m][n][2 * e + q]);
              }
            }
          }
        }
      }
    }
  }

  const T *a_, *b_;
  std::int64_t a_step_, a_copy_stride_, b_copy_stride_;
  int step_, rows_, columns_, remaining_k_;
  T sums_[tiles_down][tiles_across][4];
};

/// Computes one C tile per thread block. blockIdx.y selects the triangle.
template <class T, int Order, int Threads, int Stages>
__global__ void __launch_bounds__(Threads) multiply_pairs(LevelProduct<T> p, TileGrid<Order> grid) {
  const ProductTile tile = grid.tile(p, static_cast<int>(blockIdx.x));
  simt::griddepcontrol_wait();
  if (!tile.is_nonempty()) return;
  const auto triangle = static_cast<std::int64_t>(blockIdx.y);
  LevelTileProduct<T, Order, Threads, Stages> product(p, triangle, tile);
  write_zeros(p, triangle, tile, Threads);
  product.add(tile.k_tiles(tile_depth));
  T* const c = p.c + tile.pair * p.c_step + triangle * p.c_triangle_step + tile.row + tile.column * p.ldc;
  bool is_within = true;
  product.for_each([&](int i, int j, T sum) {
    if (i >= tile.rows || j >= tile.columns) return;
    c[i + j * p.ldc] = p.factor * sum;
    is_within = p.is_within(sum) && is_within;
  });
  if (p.exceeds_limit != nullptr && !is_within) *p.exceeds_limit = 1;
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
