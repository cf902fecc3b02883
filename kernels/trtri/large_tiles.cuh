#pragma once
/// Products with a triangle in double, on tensor cores, in tiles of 128 x 128 or, where there are few of
/// them, of 64 x 64. Each tile is over the inner indices that count for it. Two uses: a level of
/// trtri/levels, C = factor A B, and C = P P^T.
///
/// A block of eight warps makes a tile, a warp half its rows and a quarter of its columns. Pieces of 16 inner
/// indices go through a ring in shared memory. An operand has its rows (of B the columns) or its inner
/// indices one after another in memory; so it has in shared memory. A lane's two rows are neighbours, and so
/// are its two columns in two fragments. So all loads are of two elements. A warp waits for its products;
/// what it copies and loads, it does beside them. Needs compute capability 9.0.

#include <cstdint>

#include "kernels/potrf/tile_memory.cuh"
#include "kernels/trtri/level_products.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

constexpr int large_depth = 16;  ///< inner indices of a piece
/// Tiles of 128 x 128 from which these are faster: of a level, and of P P^T (one H100).
constexpr int many_of_level = 200;
constexpr int many_of_square = 528;

/// An operand on its way from global to shared memory, piece by piece. It has `Lines` rows (of B columns).
/// Zeros are beyond the inner indices. Beyond the lines is what was there: it comes into sums that nobody
/// reads.
/// @tparam ByInner whether its inner indices are one after another in memory, and not its lines
/// @tparam Pack elements that are copied at once: two where all is even and aligned to 16 bytes, else one
template <bool ByInner, int Lines, int Threads, int Pack>
class LargeOperand {
 public:
  /// Elements between two columns in shared memory: lanes that load a fragment meet in no bank.
  static constexpr int stride = ByInner ? large_depth + 4 : Lines + 2;
  static constexpr int elements = ByInner ? Lines * stride : large_depth * stride;
  static constexpr int copies = Lines * large_depth / Pack / Threads;  ///< of a thread, for a piece

  /// `from`: the first piece; so many `lines` are there. `inner`: indices from there on. `step`: inner
  /// indices to the next piece.
  __device__ __forceinline__ LargeOperand(const double* from, std::int64_t ld, int lines, int inner, int step)
      : from_(from + first() + column() * ld),
        apart_(columns * ld),
        to_next_((ByInner ? step : step * ld) - all_steps()),
        lines_(lines),
        inner_(inner),
        step_(step) {}
  /// What the copy copies. Copies of a piece are in order, then come those of the next one.
  __device__ __forceinline__ const double* take(int copy) {
    const double* const from = by_steps ? from_ : from_ + copy * apart_;
    if (copy + 1 == copies) {
      from_ += to_next_;
    } else if (by_steps) {
      from_ += apart_;
    }
    return from;
  }
  /// Back by one piece.
  __device__ __forceinline__ void rewind() { from_ -= to_next_ + all_steps(); }
  __device__ int lines() const { return lines_; }
  /// Whether the line and the inner index of a copy are there.
  __device__ __forceinline__ bool has_line(int copy) const {
    return (ByInner ? column() + copy * columns : first()) < lines_;
  }
  __device__ __forceinline__ bool has_inner(int copy) const {
    return (ByInner ? first() : column() + copy * columns) < inner_;
  }
  __device__ __forceinline__ static int place(int copy) {
    return first() + (column() + copy * columns) * stride;
  }
  __device__ __forceinline__ void next() { inner_ -= step_; }

 private:
  static constexpr bool by_steps = Lines == 64;  ///< from copy to copy: with larger tiles, slower
  __device__ std::int64_t all_steps() const { return by_steps ? (copies - 1) * apart_ : 0; }
  static constexpr int packs = (ByInner ? large_depth : Lines) / Pack;  ///< in a column
  static constexpr int columns = Threads / packs;                       ///< that are copied at once
  __device__ static int first() { return static_cast<int>(threadIdx.x) % packs * Pack; }
  __device__ static int column() { return static_cast<int>(threadIdx.x) / packs; }
  const double* from_;
  std::int64_t apart_, to_next_;
  int lines_, inner_, step_;
};

/// The tile's sums, and how they come about.
/// @tparam Order of the tile, 128 or 64
/// @tparam Square of P P^T: the columns of B = P^T are one after another, and not its inner indices
/// @tparam PackA, PackB as of LargeOperand
template <int Order, bool Square, int PackA, int PackB>
class LargeProduct {
 public:
  static constexpr int threads = 256;
  using A = LargeOperand<false, Order, threads, PackA>;
  using B = LargeOperand<!Square, Order, threads, PackB>;
  static constexpr int piece = A::elements + B::elements;
  /// In shared memory. More of them gain where two elements are copied, and lose where one is, which takes
  /// the L1 cache.
  static constexpr int pieces = Order == 64 ? 5 : 4;
  static constexpr std::size_t bytes = sizeof(double) * pieces * piece;

  __device__ __forceinline__ LargeProduct(double* memory, A a, B b) : memory_(memory), a_(a), b_(b) {}

  /// Sums up `count` pieces. `Whole`: no line and no inner index lacks, and nothing asks for them.
  template <bool Whole>
  __device__ __forceinline__ void add(int count) {
    clear();
    for (int p = 0; p < pieces - 1; ++p) {
      GAUSSWEEP_UNROLL
      for (int k = 0; k < A::copies; ++k) copy<Whole, PackA>(a_, k, p < count, slot(p));
      GAUSSWEEP_UNROLL
      for (int k = 0; k < B::copies; ++k) copy<Whole, PackB>(b_, k, p < count, slot(p) + A::elements);
      end_piece();
    }
    await_piece<pieces - 2>();
    load_left(0, slot(0), 0, 0);
    GAUSSWEEP_UNROLL
    for (int n = 0; n < across; ++n) load_right(0, slot(0), 0, n);
    b_.rewind();   // beside the first piece's first half there are none of its copies
    int here = 0;  // slot of the piece
    GAUSSWEEP_ROLLED
    for (int p = 0; p < count; ++p) {
      const int next = here + 1 == pieces ? 0 : here + 1;
      const int behind = here == 0 ? pieces - 1 : here - 1;
      const int behind_that = behind == 0 ? pieces - 1 : behind - 1;
      // A piece's share of A is copied beside a second half, its share of B beside the next first half. They
      // go where the piece before the barrier between was. So it was read by all.
      multiply_half<0, Whole>(slot(here), slot(here), p > 0 && p + pieces - 2 < count, slot(behind_that));
      if (p > 0) end_piece();
      await_piece<pieces - 3>();
      multiply_half<1, Whole>(slot(here), slot(next), p + pieces - 1 < count, slot(behind));
      here = next;
    }
  }

  /// store(row, column, sum, sum of the next row) of all that the lane has.
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
  /// Fragments of a warp's part, 16 x 8 each.
  static constexpr int down = Order / 32, across = Order * 8 / threads;
  __device__ static int g() { return static_cast<int>(threadIdx.x) % 32 / 4; }
  __device__ static int t() { return static_cast<int>(threadIdx.x) % 4; }
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static int row_part() { return warp() % 2 * (Order / 2); }  ///< the warp's first one
  __device__ static int row() { return row_part() + 2 * g(); }           ///< the lane's first one
  __device__ static int column() { return warp() / 2 * (across * 8); }   ///< the warp's first one
  __device__ __forceinline__ double* slot(int p) const { return memory_ + p * piece; }

  __device__ __forceinline__ void clear() {
    GAUSSWEEP_UNROLL
    for (int m = 0; m < down; ++m) {
      GAUSSWEEP_UNROLL
      for (int n = 0; n < across; ++n) {
        GAUSSWEEP_UNROLL
        for (int e = 0; e < 4; ++e) sums_[m][n][e] = 0;
      }
    }
  }
  /// Copy number k of a thread's share of an operand's next piece, if there is one.
  template <bool Whole, int Pack, class Operand>
  __device__ __forceinline__ void copy(Operand& operand, int k, bool wanted, double* to) {
    double* const place = to + operand.place(k);
    const double* const from = operand.take(k);
    if (!Whole) wanted = wanted && operand.has_line(k);
    const bool there = Whole || operand.has_inner(k);
#ifdef __CUDACC__
    tiles::copy_if<Pack>(wanted, static_cast<unsigned>(__cvta_generic_to_shared(place)), from, there);
#else
    for (int e = 0; wanted && e < Pack; ++e) simt::copy_or_zero(place + e, from + e, there);
#endif
  }
  __device__ __forceinline__ void end_piece() {
    simt::end_copy_group();
    a_.next();
    b_.next();
  }
  /// Until a piece is there for all threads, and what they have loaded may be overwritten.
  template <int Later>
  __device__ __forceinline__ void await_piece() {
    simt::await_copy_groups<Later>();
    __syncthreads();
  }
  __device__ __forceinline__ static void load_pair(const double* from, double (&pair)[2]) {
#ifdef __CUDACC__
    tiles::load_in_order(static_cast<unsigned>(__cvta_generic_to_shared(from)), pair);
#else
    lu::load_two(from, pair[0], pair[1]);
#endif
  }
  /// The lane's part of 16 rows and eight inner indices, half a piece, of A.
  __device__ __forceinline__ void load_left(int which, const double* from, int half, int m) {
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) {
      double pair[2];
      load_pair(from + (8 * half + 2 * t() + h) * A::stride + row() + m * 16, pair);
      left_[which][2 * h] = pair[0];
      left_[which][2 * h + 1] = pair[1];
    }
  }
  /// A pair of elements of B: of one of four columns two inner indices, or of one of these two columns. All
  /// four calls, n from 0 on, load what there is of the half.
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
  /// Multiplies half a piece. Beside the products copies are started, if `more`, and what the next ones want
  /// is loaded: in the end that is of the other half, in `next`.
  template <int Half, bool Whole>
  __device__ __forceinline__ void multiply_half(const double* here, const double* next, bool more,
                                                double* behind) {
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
      for (int n = 0; n < across; ++n) {
        if (Whole || PackA == 2 || (m * 16 < a_.lines() - row_part() && n / 2 * 16 < b_.lines() - column())) {
          lu::multiply_16x8(sums_[m][n], left_[m % 2], right_[Half][n]);
        }
        constexpr int copies = Half == 1 ? A::copies : B::copies, apart = down * across / copies;
        GAUSSWEEP_UNROLL
        for (int k = 0; k < copies; ++k) {
          if (m * across + n != k * apart + (apart > 1 ? 1 : 0)) continue;
          if constexpr (Half == 1) {
            copy<Whole, PackA>(a_, k, more, behind);
          } else {
            copy<Whole, PackB>(b_, k, more, behind + A::elements);
          }
        }
      }
    }
  }

  double* memory_;
  A a_;
  B b_;
  double sums_[down][across][4];
  double left_[2][4];
  double right_[2][across][2];
};

/// A block a tile of C, of P P^T those that reach the diagonal or below.
/// @tparam Whole whether all tiles and pieces are. Else a tile finds out, but not with two elements a copy:
/// two ways in one kernel make the faster one slower.
template <int Order, bool Square, int PackA, int PackB, bool Whole>
__global__ void __launch_bounds__(256, Order == 64 ? 2 : 1)
    multiply_large(LevelProduct<double> p, TileGrid<Order> grid) {
#if GAUSSWEEP_CLUSTERS
  using Product = LargeProduct<Order, Square, PackA, PackB>;
  const Tile tile = grid.tile(p, static_cast<int>(blockIdx.x));
  simt::griddepcontrol_wait();
  if (!tile.is_there() || (Square && tile.column > tile.row)) return;
  const int first = tile.first(large_depth), step = tile.step(large_depth), inner = tile.end - first;
  const double* const a = p.a + tile.pair * p.a_step + tile.row + first * p.lda;
  const double* const b =
      p.b + tile.pair * p.b_step + (Square ? tile.column + first * p.ldb : first + tile.column * p.ldb);
  Product product(simt::dynamic_shared<double>(), {a, p.lda, tile.rows, inner, step},
                  {b, p.ldb, tile.columns, inner, step});
  write_zeros(p, 0, tile);
  const int count = tile.pieces(large_depth);
  if constexpr (Whole || PackA == 2) {
    product.template add<Whole>(count);
  } else if (tile.rows == Order && tile.columns == Order && count * large_depth == tile.end - tile.begin) {
    product.template add<true>(count);
  } else {
    product.template add<false>(count);
  }

  double* const c = p.c + tile.pair * p.c_step + tile.row + tile.column * p.ldc;
  product.for_pairs([&](int i, int j, double above, double below) {
    if (i >= tile.rows || j >= tile.columns) return;
    double* const to = c + i + j * p.ldc;
    if constexpr (PackA == 2) {
      lu::store_two(to, p.factor * above, p.factor * below);
    } else {
      to[0] = p.factor * above;
      if (i + 1 < tile.rows) to[1] = p.factor * below;
    }
  });
#endif
}

/// Whether the GPU is one that multiply_large serves.
inline bool can_be_large(const Context& context) {
  return simt::has_clusters(context);
}
/// Whether all columns begin at a multiple of 16 bytes.
inline bool is_aligned(const double* data, std::int64_t ld, std::int64_t step) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && (ld | step) % 2 == 0;
}
/// Whether two elements of B can be copied at once.
inline bool is_b_in_packs(const LevelProduct<double>& p) {
  return is_aligned(p.b, p.ldb, p.b_step) && (p.columns | p.inner | p.last_rows | p.last_columns) % 2 == 0;
}
/// Whether two elements of all matrices can be.
inline bool is_in_packs(const LevelProduct<double>& p) {
  return is_b_in_packs(p) && is_aligned(p.a, p.lda, p.a_step) && is_aligned(p.c, p.ldc, p.c_step) &&
         p.rows % 2 == 0;
}

template <int Order, bool Square, int PackA, int PackB>
void launch_large(Context& context, const LevelProduct<double>& p, const TileGrid<Order>& grid) {
  using Product = LargeProduct<Order, Square, PackA, PackB>;
  const auto launch = [&](auto kernel) {
    simt::launch_clusters(context, kernel, 1, static_cast<unsigned>(grid.blocks()), dim3(Product::threads),
                          Product::bytes, p, grid);
  };
  if constexpr (PackA == 2) {
    const bool whole = (p.rows | p.columns | p.inner | p.last_rows | p.last_columns) % Order == 0;
    if (whole) return launch(multiply_large<Order, Square, PackA, PackB, true>);
  }
  launch(multiply_large<Order, Square, PackA, PackB, false>);
}
template <bool Square, int PackA, int PackB>
void launch_large(Context& context, const LevelProduct<double>& p, int pairs, int many) {
  constexpr int all = 1 << 28;  // few run at once
  const TileGrid<128> grid(p, pairs, all);
  if (grid.blocks() >= many) return launch_large<128, Square, PackA, PackB>(context, p, grid);
  launch_large<64, Square, PackA, PackB>(context, p, TileGrid<64>(p, pairs, simt::multiprocessors(context)));
}
/// `pairs` products in one launch, in tiles of 128 x 128 if there are so many. @pre can_be_large
inline void multiply_by_large_tiles(Context& context, const LevelProduct<double>& p, int pairs, int many) {
  if (is_in_packs(p)) return launch_large<false, 2, 2>(context, p, pairs, many);
  if (is_b_in_packs(p)) return launch_large<false, 1, 2>(context, p, pairs, many);
  launch_large<false, 1, 1>(context, p, pairs, many);
}
/// C = P P^T, its lower triangle, in one launch. @pre can_be_large, and is_in_packs
inline void square_by_large_tiles(Context& context, const LevelProduct<double>& p, int many) {
  launch_large<true, 2, 2>(context, p, 1, many);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
