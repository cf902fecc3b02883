#pragma once
/// Computes all block products of one level of trtri/levels in one launch. Each C tile loops only over the k
/// range where the triangle is nonzero.

#include <cmath>
#include <cstdint>

#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

/// The k range of a C tile in a product with a triangle: it begins or ends at the tile's rows or columns. The
/// first two are the products of a lower triangle's level (triangle on the right, then on the left), the last
/// two those of an upper triangle's.
enum class Inner { from_columns, up_to_rows, up_to_columns, from_rows };

/// C = factor A B for several pairs of the same shape. The last pair may have fewer rows of C (lower
/// triangle) or columns (upper triangle).
template <class T>
struct LevelProduct {
  const T* a;
  std::int64_t lda, a_step;  ///< distance between the operands of two pairs
  const T* b;
  std::int64_t ldb, b_step;
  T* c;
  std::int64_t ldc, c_step;
  T* zeros;  ///< the block of the other triangle that mirrors C and becomes 0; null: there is none
  std::int64_t ldz, z_step;
  std::int64_t a_next, b_next, c_next, z_next;  ///< distances between triangles
  int rows, columns, inner;
  int last_rows, last_columns;
  Inner counts;
  T factor;
  T largest;       ///< *is_larger becomes 1 if an element of C is larger than this, or NaN
  int* is_larger;  ///< null: no check

  __device__ bool is_within(T c) const { return std::fabs(c) <= largest; }

  /// Returns true if the k range depends on C's columns, false if it depends on its rows.
  __host__ __device__ bool is_by_columns() const {
    return counts == Inner::from_columns || counts == Inner::up_to_columns;
  }
};

/// A C tile and its k range. The tile is empty if it has no rows or no columns.
struct Tile {
  int pair, row, column, rows, columns;
  int begin, end;
  bool from;  ///< the k range begins at the tile's diagonal instead of ending there

  __device__ bool is_there() const { return rows > 0 && columns > 0; }
  /// Returns the number of k tiles of this depth; the last one may be smaller. k tiles may run backwards, so
  /// that the triangle's diagonal comes last (levels.cuh, multiply_by_strips).
  __device__ int pieces(int depth) const { return (end - begin + depth - 1) / depth; }
  __device__ int first(int depth) const { return from ? begin + (pieces(depth) - 1) * depth : begin; }
  __device__ int step(int depth) const { return from ? -depth : depth; }
};

/// The C tiles of a product: `along` rows (or columns) of tiles in the direction in which the k range varies,
/// with `across` tiles each. Tiles with the longest k range start first. If all tiles run together, a
/// multiprocessor gets a long one and a short one.
template <int Order>
struct TileGrid {
  int pairs, across, along;
  int wave;  ///< tiles that start together, one per multiprocessor
  template <class T>
  TileGrid(const LevelProduct<T>& p, int count, int multiprocessors) : pairs(count), wave(multiprocessors) {
    const int down = ((count == 1 ? p.last_rows : p.rows) + Order - 1) / Order;
    const int right = ((count == 1 ? p.last_columns : p.columns) + Order - 1) / Order;
    across = p.is_by_columns() ? down : right;
    along = p.is_by_columns() ? right : down;
  }
  __host__ __device__ int blocks() const { return pairs * across * along; }

  template <class T>
  __device__ Tile tile(const LevelProduct<T>& p, int index) const {
    return at(p, turned(index, blocks()));
  }
  /// Returns the rank by k range, longest first, of the tile that block `index` computes.
  __device__ int turned(int index, int tiles) const {
    if (tiles > 3 * wave || index < wave || index >= 2 * wave) return index;
    return wave + (tiles < 2 * wave ? tiles : 2 * wave) - 1 - index;
  }
  /// Returns the tile with rank `index` by k range, longest first.
  template <class T>
  __device__ Tile at(const LevelProduct<T>& p, int index) const {
    const bool by_columns = p.is_by_columns();
    Tile tile;
    tile.from = p.counts == Inner::from_columns || p.counts == Inner::from_rows;
    tile.pair = index % pairs;
    const int beside = index / pairs % across, line = index / pairs / across;
    const int own = tile.from ? line : along - 1 - line;
    tile.row = (by_columns ? beside : own) * Order;
    tile.column = (by_columns ? own : beside) * Order;
    const bool last = tile.pair + 1 == pairs;
    const auto in_range = [](int left, int most) { return left < most ? left : most; };
    tile.rows = in_range((last ? p.last_rows : p.rows) - tile.row, Order);
    tile.columns = in_range((last ? p.last_columns : p.columns) - tile.column, Order);
    const int place = by_columns ? tile.column : tile.row;
    tile.begin = tile.from ? place : 0;
    tile.end = tile.from ? p.inner : place + (by_columns ? tile.columns : tile.rows);
    return tile;
  }
};

constexpr int at_once = 16;  ///< depth of a k tile

/// Writes the zeros that mirror a C tile, with the first `threads` threads of a block.
template <class T>
__device__ __forceinline__ void write_zeros(const LevelProduct<T>& p, std::int64_t triangle, const Tile& tile,
                                            int threads) {
  if (p.zeros == nullptr) return;
  T* const zeros = p.zeros + tile.pair * p.z_step + triangle * p.z_next + tile.column + tile.row * p.ldz;
  for (int i = static_cast<int>(threadIdx.x); i < tile.rows * tile.columns; i += threads) {
    zeros[i % tile.columns + i / tile.columns * p.ldz] = T(0);
  }
}

/// Checks a level's first product for large elements, and writes the zeros that mirror its second one; one
/// thread block per tile.
template <class T>
__global__ void __launch_bounds__(256)
    look_and_write_zeros(LevelProduct<T> first, LevelProduct<T> second, TileGrid<64> grid) {
  const Tile tile = grid.tile(second, static_cast<int>(blockIdx.x));
  if (!tile.is_there()) return;
  write_zeros(second, 0, tile, 256);
  if (first.is_larger == nullptr) return;
  const T* const c = first.c + tile.pair * first.c_step + tile.row + tile.column * first.ldc;
  bool is_within = true;
  for (int e = static_cast<int>(threadIdx.x); e < tile.rows * tile.columns; e += 256) {
    is_within = first.is_within(c[e % tile.rows + e / tile.rows * first.ldc]) && is_within;
  }
  if (!is_within) *first.is_larger = 1;
}

/// A C tile of Order x Order elements, computed by two rows of warps from 16 x 8 fragments. A lane owns the
/// sums that the fragment layout of tensor cores gives it (triangle_tiles.cuh), also in float, where it
/// computes them one by one. k tiles pass through a ring buffer of `Pieces` stages in shared memory.
template <class T, int Order, int Threads, int Pieces>
class TileProduct {
 public:
  static constexpr std::size_t bytes = sizeof(T) * Pieces * (at_once * (Order + 2) + Order * (at_once + 8));

  __device__ __forceinline__ TileProduct(const LevelProduct<T>& p, std::int64_t triangle, const Tile& tile)
      : a_(p.a + tile.pair * p.a_step + triangle * p.a_next + tile.row + a_row() +
           (tile.first(at_once) + a_inner()) * p.lda),
        b_(p.b + tile.pair * p.b_step + triangle * p.b_next + tile.first(at_once) + b_inner() +
           (tile.column + b_column()) * p.ldb),
        a_step_(tile.step(at_once) * p.lda),
        a_apart_(a_apart * p.lda),
        b_apart_(b_apart * p.ldb),
        step_(tile.step(at_once)),
        rows_(tile.rows),
        columns_(tile.columns),
        inner_(tile.end - tile.first(at_once)) {
    GAUSSWEEP_UNROLL
    for (int m = 0; m < down; ++m) {
      GAUSSWEEP_UNROLL
      for (int n = 0; n < across; ++n) {
        GAUSSWEEP_UNROLL
        for (int e = 0; e < 4; ++e) sums_[m][n][e] = T(0);
      }
    }
  }

  /// Multiplies and accumulates `count` k tiles.
  __device__ __forceinline__ void add(int count) {
    if (rows_ == Order && columns_ == Order) {
      add<true>(count);
    } else {
      add<false>(count);
    }
  }
  /// Calls store(row, column, sum) for all sums of the lane.
  template <class Store>
  __device__ __forceinline__ void for_each(Store store) const {
    GAUSSWEEP_UNROLL
    for (int n = 0; n < across; ++n) {
      GAUSSWEEP_UNROLL
      for (int q = 0; q < 2; ++q) {
        GAUSSWEEP_UNROLL
        for (int m = 0; m < down; ++m) {
          GAUSSWEEP_UNROLL
          for (int e = 0; e < 2; ++e) {
            store(part_row() + g() + m * 16 + e * 8, part_column() + t() * 2 + n * 8 + q,
                  sums_[m][n][2 * e + q]);
          }
        }
      }
    }
  }

 private:
  /// @tparam Whole true if the C tile is complete
  template <bool Whole>
  __device__ __forceinline__ void add(int count) {
    T* const ring = simt::dynamic_shared<T>();
    for (int p = 0; p < Pieces - 1; ++p) load<Whole>(p < count, ring + p * piece);
    int here = 0, behind = Pieces - 1;  // slots of the current and the previous k tile
    GAUSSWEEP_ROLLED
    for (int p = 0; p < count; ++p) {
      simt::await_copy_groups<Pieces - 2>();
      __syncthreads();
      load<Whole>(p + Pieces - 1 < count, ring + behind * piece);
      multiply<Whole>(ring + here * piece, ring + here * piece + b_begin);
      behind = here;
      here = here + 1 == Pieces ? 0 : here + 1;
    }
  }

  static constexpr int part_rows = Order / 2, part_columns = Order / (Threads / 64);
  static constexpr int down = part_rows / 16, across = part_columns / 8;
  static constexpr int a_stride = Order + 2;  // 2 mod 8: no bank conflicts among lanes that load a fragment
  static constexpr int b_stride = at_once + 8;
  static constexpr int b_begin = at_once * a_stride;
  static constexpr int piece = b_begin + Order * b_stride;
  static constexpr int share = Order * at_once / Threads;  // elements per thread and operand
  static constexpr int a_apart = Threads / Order, b_apart = Threads / at_once;
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ static int warp() { return thread() / 32; }
  __device__ static int g() { return thread() % 32 / 4; }
  __device__ static int t() { return thread() % 4; }
  // The first row and column of the warp's part.
  __device__ static int part_row() { return warp() % 2 * part_rows; }
  __device__ static int part_column() { return warp() / 2 * part_columns; }
  // The indices of the first elements that the thread copies.
  __device__ static int a_row() { return thread() % Order; }
  __device__ static int a_inner() { return thread() / Order; }
  __device__ static int b_inner() { return thread() % at_once; }
  __device__ static int b_column() { return thread() / at_once; }

  /// Starts to copy the next k tile if `wanted`. Elements beyond the k range are set to 0. Rows and columns
  /// beyond the tile keep old contents, which only reach sums that are not stored.
  template <bool Whole>
  __device__ __forceinline__ void load(bool wanted, T* to) {
    if (wanted) {
      if (inner_ >= at_once) {
        copy<Whole>(to, [](int) { return true; });
      } else {
        copy<Whole>(to, [this](int k) { return k < inner_; });
      }
      a_ += a_step_;
      b_ += step_;
      inner_ -= step_;
    }
    simt::end_copy_group();
  }
  template <bool Whole, class InRange>
  __device__ __forceinline__ void copy(T* to, InRange in_range) const {
    T* const to_a = to + a_inner() * a_stride + a_row();
    T* const to_b = to + b_begin + b_column() * b_stride + b_inner();
    GAUSSWEEP_UNROLL
    for (int e = 0; e < share; ++e) {
      if (Whole || a_row() < rows_) {
        simt::copy_or_zero(to_a + e * a_apart * a_stride, a_ + e * a_apart_,
                           in_range(a_inner() + e * a_apart));
      }
      if (Whole || b_column() + e * b_apart < columns_) {
        simt::copy_or_zero(to_b + e * b_apart * b_stride, b_ + e * b_apart_, in_range(b_inner()));
      }
    }
  }
  /// Multiplies one k tile. Skips whole fragments beyond the C tile.
  template <bool Whole>
  __device__ __forceinline__ void multiply(const T* a, const T* b) {
    const int rows = Whole ? Order : rows_ - part_row(), columns = Whole ? Order : columns_ - part_column();
    const T* const own_a = a + part_row() + g();
    if constexpr (sizeof(T) == sizeof(double)) {
      const T* const own_b = b + (part_column() + g()) * b_stride;
      GAUSSWEEP_UNROLL
      for (int step = 0; step < at_once; step += 8) {
        const int k = step + 2 * t();
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
          for (int m = 0; m < down; ++m) {
            if (m * 16 < rows && n * 8 < columns) lu::multiply_16x8(sums_[m][n], left[m], right);
          }
        }
      }
    } else {
      const T* const own_b = b + (part_column() + 2 * t()) * b_stride;
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
                sums_[m][n][2 * e + q] = std::fma(left[m][e], right, sums_[m][n][2 * e + q]);
              }
            }
          }
        }
      }
    }
  }

  const T *a_, *b_;
  std::int64_t a_step_, a_apart_, b_apart_;
  int step_, rows_, columns_, inner_;
  T sums_[down][across][4];
};

/// Computes one C tile per block. blockIdx.y selects the triangle.
template <class T, int Order, int Threads, int Pieces>
__global__ void __launch_bounds__(Threads) multiply_pairs(LevelProduct<T> p, TileGrid<Order> grid) {
  const Tile tile = grid.tile(p, static_cast<int>(blockIdx.x));
  simt::griddepcontrol_wait();
  if (!tile.is_there()) return;
  const auto triangle = static_cast<std::int64_t>(blockIdx.y);
  TileProduct<T, Order, Threads, Pieces> product(p, triangle, tile);
  write_zeros(p, triangle, tile, Threads);
  product.add(tile.pieces(at_once));
  T* const c = p.c + tile.pair * p.c_step + triangle * p.c_next + tile.row + tile.column * p.ldc;
  bool is_within = true;
  product.for_each([&](int i, int j, T sum) {
    if (i >= tile.rows || j >= tile.columns) return;
    c[i + j * p.ldc] = p.factor * sum;
    is_within = p.is_within(sum) && is_within;
  });
  if (p.is_larger != nullptr && !is_within) *p.is_larger = 1;
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
