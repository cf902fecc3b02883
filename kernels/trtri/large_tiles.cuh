#pragma once
/// Products with a triangle in double, in tiles of 128 rows on tensor cores. Each tile is over the inner
/// indices that count for it. Two uses: a level of trtri/levels, C = factor A B, and C = P P^T.
///
/// A tile has 128 columns, or 64 where there would be few of them. A block makes it, a warp 64 x 32 of it.
/// Pieces of 16 inner indices go through a ring in shared memory, three on their way while one is multiplied.
/// An operand has its rows (of B the columns) or its inner indices one after another in memory; so it has in
/// shared memory. A lane's two rows are neighbours, and so are its two columns in two fragments. So all loads
/// are of two elements. Needs compute capability 9.0, and columns aligned to 16 bytes.

#include <cstdint>

#include "kernels/potrf/tile_memory.cuh"
#include "kernels/trtri/level_products.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

constexpr int large_rows = 128;  ///< of a tile
constexpr int large_depth = 16;  ///< inner indices of a piece
constexpr int large_pieces = 4;  ///< in shared memory
/// Tiles from which those of 128 columns are faster than those of 64: of a level, and of P P^T (one H100).
constexpr int many_of_level = 132;
constexpr int many_of_square = 528;

/// An operand on its way from global to shared memory, piece by piece. It has `Lines` rows (of B columns).
/// @tparam ByInner whether its inner indices are one after another in memory, and not its lines
/// @tparam Pack elements that are copied at once: two where columns are aligned to 16 bytes and tiles and
/// pieces are whole, or one. Then zeros are where there is nothing.
template <bool ByInner, int Lines, int Threads, int Pack>
class LargeOperand {
 public:
  /// Elements between two columns in shared memory: lanes that load a fragment meet in no bank.
  static constexpr int stride = ByInner ? large_depth + 4 : Lines + 2;
  static constexpr int elements = ByInner ? Lines * stride : large_depth * stride;
  static constexpr int copies = Lines * large_depth / Pack / Threads;  ///< of a thread, for a piece

  /// `from`: the first piece; so many `lines` are there, with Pack 2 64 or 128. `inner`: indices from there
  /// on. `step`: inner indices to the next piece.
  __device__ __forceinline__ LargeOperand(const double* from, std::int64_t ld, int lines, int inner, int step)
      : from_(from + (Pack == 2 && !ByInner ? first() % lines : first()) + column() * ld),
        near_(columns * ld),
        far_(ByInner && Pack == 2 && lines < Lines ? 0 : 64 * ld),  // others once more
        step_(ByInner ? step : step * ld),
        lines_(lines),
        inner_(inner),
        inner_step_(step) {}
  __device__ __forceinline__ const double* from(int copy) const {
    constexpr int of_64 = 64 / columns;
    return from_ + copy % of_64 * near_ + copy / of_64 * far_;
  }
  __device__ int lines() const { return lines_; }
  /// Whether there is something, with Pack 1.
  __device__ __forceinline__ bool is_there(int copy) const {
    const int in_column = first(), of_column = column() + copy * columns;
    return (ByInner ? of_column : in_column) < lines_ && (ByInner ? in_column : of_column) < inner_;
  }
  __device__ __forceinline__ static int place(int copy) {
    return first() + (column() + copy * columns) * stride;
  }
  __device__ __forceinline__ void next() {
    from_ += step_;
    inner_ -= inner_step_;
  }

 private:
  static constexpr int packs = (ByInner ? large_depth : Lines) / Pack;  ///< in a column
  static constexpr int columns = Threads / packs;                       ///< that are copied at once
  __device__ static int first() { return static_cast<int>(threadIdx.x) % packs * Pack; }
  __device__ static int column() { return static_cast<int>(threadIdx.x) / packs; }
  const double* from_;
  std::int64_t near_, far_, step_;
  int lines_, inner_, inner_step_;
};

/// The tile's sums, and how they come about.
/// @tparam Square of P P^T: the columns of B = P^T are one after another, and not its inner indices
/// @tparam Pack as of LargeOperand
template <bool Square, int Columns, int Pack>
class LargeProduct {
 public:
  static constexpr int threads = 2 * Columns;
  using A = LargeOperand<false, large_rows, threads, Pack>;
  using B = LargeOperand<!Square, Columns, threads, Pack>;
  static constexpr int piece = A::elements + B::elements;
  static constexpr std::size_t bytes = sizeof(double) * large_pieces * piece;

  __device__ __forceinline__ LargeProduct(double* memory, A a, B b) : memory_(memory), a_(a), b_(b) {}

  /// Sums up `count` pieces. `Whole`: nothing lacks, and no zeros are in its place.
  template <bool Whole>
  __device__ __forceinline__ void add(int count) {
    clear();
    for (int p = 0; p < large_pieces - 1; ++p) {
      GAUSSWEEP_UNROLL
      for (int k = 0; k < copies; ++k) copy<Whole>(k, p < count, slot(p));
      end_piece();
    }
    await_piece<large_pieces - 2>();
    load_left(0, slot(0), 0, 0);
    GAUSSWEEP_UNROLL
    for (int n = 0; n < across; ++n) load_right(0, slot(0), 0, n);
    int here = 0;  // slot of the piece
    GAUSSWEEP_ROLLED
    for (int p = 0; p < count; ++p) {
      const int next = here + 1 == large_pieces ? 0 : here + 1;
      const int behind = here == 0 ? large_pieces - 1 : here - 1;
      const int behind_that = behind == 0 ? large_pieces - 1 : behind - 1;
      // What is copied beside a piece's second half and the next one's first half goes where the piece before
      // that barrier was. So it was read by all.
      multiply_half<0, Whole>(slot(here), slot(here), p > 0 && p + large_pieces - 2 < count,
                              slot(behind_that));
      if (p > 0) end_piece();
      await_piece<large_pieces - 3>();
      multiply_half<1, Whole>(slot(here), slot(next), p + large_pieces - 1 < count, slot(behind));
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
  static constexpr int copies = A::copies + B::copies;  ///< of a thread, for a piece
  static constexpr int down = 4, across = 4;            ///< fragments of a warp's part, 16 x 8 each
  __device__ static int g() { return static_cast<int>(threadIdx.x) % 32 / 4; }
  __device__ static int t() { return static_cast<int>(threadIdx.x) % 4; }
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static int row_part() { return warp() % 2 * 64; }  ///< the warp's first one
  __device__ static int row() { return row_part() + 2 * g(); }  ///< the lane's first one
  __device__ static int column() { return warp() / 2 * 32; }    ///< the warp's first one
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
  /// Copy number k of a thread's share of the next piece, if there is one.
  template <bool Whole>
  __device__ __forceinline__ void copy(int k, bool wanted, double* to) {
    double* const place = k < A::copies ? to + a_.place(k) : to + A::elements + b_.place(k - A::copies);
    const double* const from = k < A::copies ? a_.from(k) : b_.from(k - A::copies);
    if constexpr (Pack == 1) {
      const bool there = Whole || (k < A::copies ? a_.is_there(k) : b_.is_there(k - A::copies));
#ifdef __CUDACC__
      tiles::copy_if(wanted, static_cast<unsigned>(__cvta_generic_to_shared(place)), from, there);
#else
      if (wanted) simt::copy_or_zero(place, from, there);
#endif
    } else {
#ifdef __CUDACC__
      tiles::copy_pack_if(wanted, static_cast<unsigned>(__cvta_generic_to_shared(place)), from);
#else
      if (wanted) simt::copy_pack(place, from);
#endif
    }
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
  /// Multiplies half a piece. Beside each four products a copy is started, if `more`, and what the next ones
  /// want is loaded: in the end that is of the other half, in `next`.
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
      load_right(1 - Half, next, 1 - Half, m);
      GAUSSWEEP_UNROLL
      for (int n = 0; n < across; ++n) {
        if (Whole || (m * 16 < a_.lines() - row_part() && n / 2 * 16 < b_.lines() - column())) {
          lu::multiply_16x8(sums_[m][n], left_[m % 2], right_[Half][n]);
        }
        GAUSSWEEP_UNROLL
        for (int k = 0; k < copies / 2; ++k) {
          if (m * across + n == k * 2 * down * across / copies + 1) {
            copy<Whole>(k + (1 - Half) * copies / 2, more, behind);
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
template <bool Square, int Columns, int Pack>
__global__ void __launch_bounds__(2 * Columns, 128 / Columns)
    multiply_large(LevelProduct<double> p, TileGrid<large_rows, Columns> grid) {
#if GAUSSWEEP_CLUSTERS
  simt::griddepcontrol_wait();
  using Product = LargeProduct<Square, Columns, Pack>;
  const Tile tile = grid.tile(p, static_cast<int>(blockIdx.x));
  if (!tile.is_there() || (Square && tile.column >= tile.row + large_rows)) return;
  const int first = tile.first(large_depth), step = tile.step(large_depth), inner = tile.end - first;
  const double* const a = p.a + tile.pair * p.a_step + tile.row + first * p.lda;
  const double* const b =
      p.b + tile.pair * p.b_step + (Square ? tile.column + first * p.ldb : first + tile.column * p.ldb);
  Product product(simt::dynamic_shared<double>(), {a, p.lda, tile.rows, inner, step},
                  {b, p.ldb, tile.columns, inner, step});
  write_zeros(p, 0, tile);
  const int count = tile.pieces(large_depth);
  if (Pack == 2 ||
      (tile.rows == large_rows && tile.columns == Columns && count * large_depth == tile.end - tile.begin)) {
    product.template add<true>(count);
  } else {
    product.template add<false>(count);
  }

  double* const c = p.c + tile.pair * p.c_step + tile.row + tile.column * p.ldc;
  product.for_pairs([&](int i, int j, double above, double below) {
    if (i >= tile.rows || j >= tile.columns) return;
    double* const to = c + i + j * p.ldc;
    if constexpr (Pack == 2) {
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
/// Whether two elements can be copied at once.
inline bool is_in_packs(const LevelProduct<double>& p) {
  const auto aligned = [](const double* data, std::int64_t ld, std::int64_t step) {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % 2 == 0 && step % 2 == 0;
  };
  return aligned(p.a, p.lda, p.a_step) && aligned(p.b, p.ldb, p.b_step) && aligned(p.c, p.ldc, p.c_step) &&
         (p.rows | p.columns | p.inner | p.last_rows | p.last_columns) % 64 == 0;
}

template <bool Square, int Columns, int Pack>
void launch_large(Context& context, const LevelProduct<double>& p,
                  const TileGrid<large_rows, Columns>& grid) {
  using Product = LargeProduct<Square, Columns, Pack>;
  simt::launch_clusters(context, multiply_large<Square, Columns, Pack>, 1,
                        static_cast<unsigned>(grid.blocks()), dim3(Product::threads), Product::bytes, p,
                        grid);
}
template <bool Square, int Pack>
void launch_large(Context& context, const LevelProduct<double>& p, int pairs, int many) {
  constexpr int all = 1 << 28;  // few run at once
  const TileGrid<large_rows, 128> grid(p, pairs, all);
  if (grid.blocks() >= many) return launch_large<Square, 128, Pack>(context, p, grid);
  launch_large<Square, 64, Pack>(context, p, TileGrid<large_rows, 64>(p, pairs, all));
}
/// `pairs` products in one launch. Tiles have 128 columns if there are so many. @pre can_be_large
inline void multiply_by_large_tiles(Context& context, const LevelProduct<double>& p, int pairs, int many) {
  if (is_in_packs(p)) return launch_large<false, 2>(context, p, pairs, many);
  launch_large<false, 1>(context, p, pairs, many);
}
/// C = P P^T, its lower triangle, in one launch. @pre can_be_large, and is_in_packs
inline void square_by_large_tiles(Context& context, const LevelProduct<double>& p, int many) {
  launch_large<true, 2>(context, p, 1, many);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
