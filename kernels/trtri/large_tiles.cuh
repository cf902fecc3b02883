#pragma once
/// Products with a triangle in double on tensor cores. C tiles are 128 x 128, or 64 x 64 if there are few of
/// them. Each C tile loops only over the k range in which the triangle is nonzero. There are two uses: a
/// level of trtri/levels, C = factor A B, and C = P P^T.
///
/// A thread block computes one C tile. Four producer warps copy k tiles of depth 16 to a ring buffer in
/// shared memory. Eight or four consumer warps multiply; each computes half of the tile's rows and waits only
/// for k tiles. Eight consumer warps can saturate a multiprocessor alone. Four need fewer loads from shared
/// memory, which are the bottleneck if there are many blocks. If there are few C tiles, a cluster of two
/// blocks splits the k range of each.
///
/// An operand's contiguous index (rows of A, columns of B, or k) stays contiguous in shared memory. Rows of a
/// fragment are permuted such that a lane's two rows are neighbours, and so are its two columns in two
/// fragments. Every load therefore reads two elements. Producer warps give registers to consumer warps
/// (setmaxnreg). This needs compute capability 9.0. Compiled for sm_90 instead of sm_90a, which lacks that
/// instruction, the kernel takes 2.5 times as long (one H100, n = 8192).

#include <cmath>
#include <cstdint>

#include "kernels/potrf/tile_memory.cuh"
#include "kernels/trtri/level_products.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

constexpr int large_depth = 16;  ///< depth of a k tile
/// The number of 128 x 128 tiles from which they are faster than 64 x 64 tiles: for a level, and for P P^T
/// (one H100).
constexpr int many_of_level = 200;
constexpr int many_of_square = 276;
/// The k range from which two blocks share a tile of a level that has few tiles (one H200).
constexpr int shared_of_level = 500;

/// An operand's k tile in shared memory: `Lines` rows (of B columns), 16 k indices.
/// @tparam ByInner true if k is the contiguous index, false if the rows (columns) are
template <bool ByInner, int Lines>
struct LargePiece {
  static constexpr int length = ByInner ? large_depth : Lines;  ///< contiguous elements
  static constexpr int width = ByInner ? Lines : large_depth;   ///< columns
  /// Leading dimension, without bank conflicts among the lanes that load a fragment.
  static constexpr int stride = ByInner ? length + 4 : length + 2;
  static constexpr int elements = width * stride;
};

constexpr int large_copiers = 4;  ///< producer warps, the last warps of a block

/// The producer warps' copies of an operand from global to shared memory, one k tile after another. Elements
/// beyond the k range are set to 0. Rows (of B columns) beyond the matrix keep old contents, which only reach
/// sums that are not stored.
/// @tparam Before the number of consumer warps, which precede the producer warps
template <bool ByInner, int Lines, int Before>
class LargeCopies {
  using Piece = LargePiece<ByInner, Lines>;

 public:
  /// `from`: the first k tile. `lines`: rows (of B columns) that exist. `inner`: the length of the k range
  /// from there on. `step`: k indices to the next k tile.
  __device__ __forceinline__ LargeCopies(const double* from, std::int64_t ld, int lines, int inner, int step)
      : from_(from), ld_(ld), lines_(lines), inner_(inner), step_(step) {}
  /// Starts to copy the next k tile.
  __device__ __forceinline__ void copy(double* to) {
    if (lines_ < Lines || inner_ < large_depth) {
      copy<1, false>(to);
    } else if (reinterpret_cast<std::uintptr_t>(from_) % 16 == 0 && ld_ % 2 == 0) {
      copy<2, true>(to);
    } else {
      copy<1, true>(to);
    }
    from_ += ByInner ? step_ : step_ * ld_;
    inner_ -= step_;
  }

 private:
  /// @tparam Pack elements per copy instruction, one or two
  /// @tparam Whole true if the k tile is complete
  template <int Pack, bool Whole>
  __device__ __forceinline__ void copy(double* to) const {
    // `packs`: per column; `lanes`: lanes that copy one column.
    constexpr int packs = Piece::length / Pack, lanes = packs < 32 ? packs : 32;
    constexpr int columns = 32 / lanes;  // columns per warp and step, for `in_turn` steps
    constexpr int in_turn = 4, share = in_turn * columns;
    const int lane = static_cast<int>(threadIdx.x) % 32, first = lane % lanes * Pack;
    const int warp = static_cast<int>(threadIdx.x) / 32 - Before;
    GAUSSWEEP_ROLLED
    for (int column = warp * share + lane / lanes; column < Piece::width; column += large_copiers * share) {
      const double* from = from_ + first + column * ld_;
      double* const own = to + first + column * Piece::stride;
      GAUSSWEEP_UNROLL
      for (int k = 0; k < in_turn; ++k) {
        GAUSSWEEP_UNROLL
        for (int along = 0; along < Piece::length; along += lanes * Pack) {
          double* const place = own + along + k * columns * Piece::stride;
          if constexpr (Pack == 2) {
            simt::copy_pack_by_l1(place, from + along);
          } else {
            const int in_column = first + along, beside = column + k * columns;
            const bool wanted = Whole || (ByInner ? beside : in_column) < lines_;
            const bool there = Whole || (ByInner ? in_column : beside) < inner_;
            if (wanted) simt::copy_or_zero(place, from + along, there);
          }
        }
        from += columns * ld_;
      }
    }
  }

  const double* from_;
  std::int64_t ld_;
  int lines_, inner_, step_;
};

/// The ring buffer of k tiles in shared memory, followed by its barriers. More stages gain nothing: copies go
/// through the L1 cache, which shrinks as shared memory grows.
template <int Order, bool Square>
struct LargeRing {
  using A = LargePiece<false, Order>;
  using B = LargePiece<!Square, Order>;
  static constexpr int piece = A::elements + B::elements;
  static constexpr int pieces = 4;
  static constexpr std::size_t bytes = pieces * (sizeof(double) * piece + 16);
};

#if GAUSSWEEP_CLUSTERS

/// The accumulators of a C tile and the pipeline that computes them.
/// @tparam Order of the tile, 128 or 64
/// @tparam Square the product is P P^T: in B = P^T the columns are contiguous instead of k
/// @tparam Warps consumer warps, the first ones of a block
template <int Order, bool Square, int Warps>
class LargeProduct : LargeRing<Order, Square> {
  using Ring = LargeRing<Order, Square>;
  using Ring::piece, Ring::pieces;
  using typename Ring::A, typename Ring::B;

 public:
  /// Initialises the barriers. A barrier of the block must follow.
  __device__ __forceinline__ explicit LargeProduct(double* memory)
      : memory_(memory), barriers_(simt::shared_address(memory + pieces * piece)) {
    if (threadIdx.x == 0) {
      for (int p = 0; p < pieces; ++p) {
        simt::mbarrier_init(full(p), 32 * large_copiers);
        simt::mbarrier_init(empty(p), Warps);
      }
      simt::fence_mbarrier_init();
    }
  }

  /// Copies `count` k tiles. For producer warps.
  __device__ __forceinline__ void copy(LargeCopies<false, Order, Warps> a,
                                       LargeCopies<!Square, Order, Warps> b, int count) {
    int here = 0;  // the k tile's slot in the ring
    unsigned parity = 1;
    GAUSSWEEP_ROLLED
    for (int p = 0; p < count; ++p) {
      if (p >= pieces) simt::mbarrier_wait(empty(here), parity);
      a.copy(slot(here));
      b.copy(slot(here) + A::elements);
      simt::cp_async_mbarrier_arrive(full(here));
      here = here + 1 == pieces ? 0 : here + 1;
      if (here == 0) parity ^= 1u;
    }
    simt::end_copy_group();
    simt::await_copy_groups<0>();
  }

  /// Multiplies and accumulates `count` k tiles. For consumer warps.
  __device__ __forceinline__ void add(int count) {
    GAUSSWEEP_UNROLL
    for (int m = 0; m < down; ++m) {
      GAUSSWEEP_UNROLL
      for (int n = 0; n < across; ++n) {
        GAUSSWEEP_UNROLL
        for (int e = 0; e < 4; ++e) sums_[m][n][e] = 0;
      }
    }
    if (count == 0) return;
    simt::mbarrier_wait(full(0), 0);
    load_left(0, slot(0), 0, 0);
    GAUSSWEEP_UNROLL
    for (int n = 0; n < across; ++n) load_right(0, slot(0), 0, n);
    int here = 0;
    unsigned parity = 0;
    GAUSSWEEP_ROLLED
    for (int p = 0; p < count; ++p) {
      const int next = here + 1 == pieces ? 0 : here + 1;
      if (next == 0) parity ^= 1u;
      multiply_half<0>(slot(here), slot(here));
      if (p + 1 < count) simt::mbarrier_wait(full(next), parity);
      multiply_half<1>(slot(here), slot(next));
      __syncwarp();
      if (threadIdx.x % 32 == 0) simt::mbarrier_arrive(empty(here));
      here = next;
    }
  }

  /// Adds the sums of both blocks that share a tile, after `count` k tiles; the second block gets the result.
  /// For consumer warps.
  __device__ __forceinline__ void join(int rank, int count) {
    const unsigned place = simt::shared_address(memory_) + 16 * threadIdx.x;
    const auto for_pairs_of_sums = [&](unsigned from, auto use) {
      GAUSSWEEP_UNROLL
      for (int k = 0; k < down * across * 2; ++k) {
        use(from + k * 16 * 32 * Warps, &sums_[k / 2 / across][k / 2 % across][k % 2 * 2]);
      }
    };
    if (rank == 0) {
      // Waits until all warps have read the last k tile, because the sums overwrite the ring.
      if (count > 0) simt::mbarrier_wait(empty((count - 1) % pieces), (count - 1) / pieces % 2);
      for_pairs_of_sums(place, [](unsigned to, const double* pair) { simt::store_pack(to, pair); });
    }
    simt::cluster_arrive();
    simt::cluster_wait();
    if (rank == 1) {
      for_pairs_of_sums(simt::map_shared_rank(place, 0), [](unsigned from, double* pair) {
        double other[2];
        simt::load_pack_remote(from, other);
        pair[0] += other[0];
        pair[1] += other[1];
      });
    }
    simt::cluster_arrive();  // the first block's shared memory must stay valid until it has been read
    simt::cluster_wait();
  }

  /// Calls store(row, column, sum, sum of the next row) for all sums of the lane.
  template <class Store>
  __device__ __forceinline__ void for_pairs(Store store) const {
    GAUSSWEEP_UNROLL
    for (int n = 0; n < across; ++n) {
      GAUSSWEEP_UNROLL
      for (int q = 0; q < 2; ++q) {
        GAUSSWEEP_UNROLL
        for (int m = 0; m < down; ++m) {
          store(row() + m * 16, column() + 4 * t() + 2 * q + n / 2 * 16 + n % 2, sums_[m][n][q],
                sums_[m][n][2 + q]);
        }
      }
    }
  }

 private:
  /// Fragments of 16 x 8 elements per warp, down and across.
  static constexpr int down = Order / 32, across = Order / (4 * Warps);
  __device__ static int g() { return static_cast<int>(threadIdx.x) % 32 / 4; }
  __device__ static int t() { return static_cast<int>(threadIdx.x) % 4; }
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static int row_part() { return warp() % 2 * (Order / 2); }  ///< the warp's first row
  __device__ static int row() { return row_part() + 2 * g(); }           ///< the lane's first row
  __device__ static int column() { return warp() / 2 * (across * 8); }   ///< the warp's first column
  __device__ __forceinline__ double* slot(int p) const { return memory_ + p * piece; }
  /// The barriers of a slot: `full` signals that the k tile has arrived, `empty` that all warps have read it.
  __device__ __forceinline__ unsigned full(int p) const { return barriers_ + static_cast<unsigned>(16 * p); }
  __device__ __forceinline__ unsigned empty(int p) const { return full(p) + 8; }

  __device__ __forceinline__ static void load_pair(const double* from, double (&pair)[2]) {
    simt::load_pack(simt::shared_address(from), pair);
  }
  /// Loads the lane's fragment of A: 16 rows and eight k indices, half a k tile.
  __device__ __forceinline__ void load_left(int which, const double* from, int half, int m) {
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) {
      double pair[2];
      load_pair(from + (8 * half + 2 * t() + h) * A::stride + row() + m * 16, pair);
      left_[which][2 * h] = pair[0];
      left_[which][2 * h + 1] = pair[1];
    }
  }
  /// Loads a pair of elements of B: two k indices of one column, or one k index of two columns. Calls with n
  /// = 0, 1, ... load all fragments of the half.
  __device__ __forceinline__ void load_right(int which, const double* from, int half, int n) {
    const int inner = 8 * half + 2 * t(), line = column() + 2 * g() + n / 2 * 16;
    if constexpr (Square) {
      double pair[2];
      load_pair(from + A::elements + (inner + n % 2) * B::stride + line, pair);
      right_[which][n / 2 * 2][n % 2] = pair[0];
      right_[which][n / 2 * 2 + 1][n % 2] = pair[1];
    } else {
      load_pair(from + A::elements + (line + n % 2) * B::stride + inner, right_[which][n]);
    }
  }
  /// Multiplies half a k tile. Meanwhile loads the fragments of the next multiplications, at the end those of
  /// the other half from `next`.
  template <int Half>
  __device__ __forceinline__ void multiply_half(const double* here, const double* next) {
    GAUSSWEEP_UNROLL
    for (int m = 0; m < down; ++m) {
      if (m + 1 < down) {
        load_left((m + 1) % 2, here, Half, m + 1);
      } else {
        load_left(0, next, 1 - Half, 0);
      }
      GAUSSWEEP_UNROLL
      for (int n = 0; n < across; ++n) {
        if (n * down / across == m) load_right(1 - Half, next, 1 - Half, n);
      }
      GAUSSWEEP_UNROLL
      for (int n = 0; n < across; ++n) lu::multiply_16x8(sums_[m][n], left_[m % 2], right_[Half][n]);
    }
  }

  double* memory_;
  unsigned barriers_;
  double sums_[down][across][4];
  double left_[2][4];
  double right_[2][across][2];
};

#endif

/// The C tiles of a product; for P P^T only the tiles on or below the diagonal.
template <int Order, bool Square>
struct LargeGrid {
  TileGrid<Order> all;
  __host__ __device__ int tiles() const { return Square ? all.along * (all.along + 1) / 2 : all.blocks(); }
  __device__ Tile tile(const LevelProduct<double>& p, int index) const {
    index = all.turned(index, tiles());
    if (Square) {
      // Row r begins at r (r + 1) / 2; the root is rounded, so it may be one off.
      int row = static_cast<int>((std::sqrt(8.0f * static_cast<float>(index) + 1) - 1) / 2);
      if (row * (row + 1) / 2 > index) --row;
      if ((row + 1) * (row + 2) / 2 <= index) ++row;
      index += row * all.across - row * (row + 1) / 2;
    }
    return all.at(p, index);
  }
};

/// Computes one C tile per block or per cluster of two blocks. The second block of a cluster has the later
/// half of the k range.
/// @tparam Sharers blocks per tile
/// @tparam Warps consumer warps per block
template <int Order, bool Square, int Sharers, int Warps>
__global__ void __launch_bounds__(32 * (Warps + large_copiers), Order == 64 ? 2 : 1)
    multiply_large(LevelProduct<double> p, LargeGrid<Order, Square> grid) {
#if GAUSSWEEP_CLUSTERS
  LargeProduct<Order, Square, Warps> product(simt::dynamic_shared<double>());
  const int rank = static_cast<int>(blockIdx.x) % Sharers;
  const Tile tile = grid.tile(p, static_cast<int>(blockIdx.x) / Sharers);
  __syncthreads();
  simt::griddepcontrol_wait();
  if (!tile.is_there()) return;
  const int all = tile.pieces(large_depth), before = rank * (all / 2);
  const int count = rank + 1 == Sharers ? all - before : all / 2;
  if (threadIdx.x >= 32 * Warps) {
    simt::setmaxnreg_dec<40>();
    const int step = tile.step(large_depth), first = tile.first(large_depth) + before * step;
    const int inner = tile.end - first;
    const double* const a = p.a + tile.pair * p.a_step + tile.row + first * p.lda;
    const double* const b =
        p.b + tile.pair * p.b_step + (Square ? tile.column + first * p.ldb : first + tile.column * p.ldb);
    product.copy(LargeCopies<false, Order, Warps>(a, p.lda, tile.rows, inner, step),
                 LargeCopies<!Square, Order, Warps>(b, p.ldb, tile.columns, inner, step), count);
    return;
  }
  simt::setmaxnreg_inc<Order == 128 ? 232 : Warps == 8 ? 96 : 168>();
  if (rank == 0) write_zeros(p, 0, tile, 32 * Warps);
  product.add(count);
  if constexpr (Sharers == 2) {
    product.join(rank, count);
    if (rank == 0) return;
  }

  double* const c = p.c + tile.pair * p.c_step + tile.row + tile.column * p.ldc;
  const bool aligned = reinterpret_cast<std::uintptr_t>(c) % 16 == 0 && p.ldc % 2 == 0;
  bool is_within = true;
  product.for_pairs([&](int i, int j, double above, double below) {
    if (i >= tile.rows || j >= tile.columns) return;
    double* const to = c + i + j * p.ldc;
    const bool both = i + 1 < tile.rows;
    if (both && aligned) {
      lu::store_two(to, p.factor * above, p.factor * below);
    } else {
      to[0] = p.factor * above;
      if (both) to[1] = p.factor * below;
    }
    if (!Square) is_within = p.is_within(above) && (!both || p.is_within(below)) && is_within;
  });
  if (!Square && p.is_larger != nullptr && !is_within) *p.is_larger = 1;
#endif
}

/// Returns true if the GPU supports multiply_large.
inline bool can_be_large(const Context& context) {
  return simt::has_clusters(context);
}
template <int Sharers, int Warps, int Order, bool Square>
void launch_large(Context& context, const LevelProduct<double>& p, const LargeGrid<Order, Square>& grid) {
  simt::launch_clusters(context, multiply_large<Order, Square, Sharers, Warps>, Sharers,
                        static_cast<unsigned>(grid.tiles()), dim3(32 * (Warps + large_copiers)),
                        LargeRing<Order, Square>::bytes, p, grid);
}
template <bool Square>
void launch_large(Context& context, const LevelProduct<double>& p, int pairs, int many, int shared) {
  constexpr int all = 1 << 28;  // so large that tile() does not reorder the tiles, since few run together
  const LargeGrid<128, Square> large{{p, pairs, all}};
  if (large.tiles() >= many) return launch_large<1, 8>(context, p, large);
  const int multiprocessors = simt::multiprocessors(context);
  LargeGrid<64, Square> grid{{p, pairs, multiprocessors}};
  const int tiles = grid.tiles();
  // Thresholds measured on one H200. P P^T has few tiles with a long k range.
  const bool few = Square ? tiles <= 3 * multiprocessors : 3 * tiles <= 4 * multiprocessors;
  const bool share = few && p.inner >= shared;
  const bool even = (p.lda | p.ldb) % 2 == 0;
  const bool alone = even && (share ? 2 : 1) * tiles <= 2 * multiprocessors;
  if (share) {
    grid.all.wave /= 2;
    return alone ? launch_large<2, 8>(context, p, grid) : launch_large<2, 4>(context, p, grid);
  }
  if constexpr (!Square) {  // few tiles of P P^T are always shared
    if (alone) return launch_large<1, 8>(context, p, grid);
  }
  launch_large<1, 4>(context, p, grid);
}
/// Computes `pairs` products in one launch. Uses 128 x 128 tiles if there are at least `many` of them. Two
/// blocks share each tile if there are few tiles and the k range is at least `shared`. @pre can_be_large
inline void multiply_by_large_tiles(Context& context, const LevelProduct<double>& p, int pairs, int many,
                                    int shared = shared_of_level) {
  launch_large<false>(context, p, pairs, many, shared);
}
/// Computes the lower triangle of C = P P^T in one launch. @pre can_be_large
inline void square_by_large_tiles(Context& context, const LevelProduct<double>& p, int many) {
  launch_large<true>(context, p, 1, many, 0);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
