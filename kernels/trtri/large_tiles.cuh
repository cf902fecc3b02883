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
template <bool ByInner, int Lines, int Threads>
class LargeOperand {
 public:
  /// Elements between two columns in shared memory: lanes that load a fragment meet in no bank.
  static constexpr int stride = ByInner ? large_depth + 4 : Lines + 2;
  static constexpr int elements = ByInner ? Lines * stride : large_depth * stride;
  static constexpr int copies = Lines * large_depth / 2 / Threads;  ///< of a thread, for a piece

  /// `from`: the first piece; so many `lines` are there, 64 or 128. `step`: inner indices to the next piece.
  __device__ __forceinline__ LargeOperand(const double* from, std::int64_t ld, int lines, int step)
      : from_(from + first() % (ByInner ? large_depth : lines) + column() * ld),
        near_(columns * ld),
        far_(ByInner && lines < Lines ? 0 : 64 * ld),  // lines that there are not are others once more
        step_(ByInner ? step : step * ld) {}
  __device__ __forceinline__ const double* from(int copy) const {
    constexpr int of_64 = 64 / columns;
    return from_ + copy % of_64 * near_ + copy / of_64 * far_;
  }
  __device__ __forceinline__ static int place(int copy) {
    return first() + (column() + copy * columns) * stride;
  }
  __device__ __forceinline__ void next() { from_ += step_; }

 private:
  static constexpr int pairs = (ByInner ? large_depth : Lines) / 2;  ///< in a column
  static constexpr int columns = Threads / pairs;                    ///< that are copied at once
  __device__ static int first() { return static_cast<int>(threadIdx.x) % pairs * 2; }
  __device__ static int column() { return static_cast<int>(threadIdx.x) / pairs; }
  const double* from_;
  std::int64_t near_, far_, step_;
};

/// The tile's sums, and how they come about.
/// @tparam Square of P P^T: the columns of B = P^T are one after another, and not its inner indices
template <bool Square, int Columns>
class LargeProduct {
 public:
  static constexpr int threads = 2 * Columns;
  using A = LargeOperand<false, large_rows, threads>;
  using B = LargeOperand<!Square, Columns, threads>;
  static constexpr int piece = A::elements + B::elements;
  static constexpr std::size_t bytes = sizeof(double) * large_pieces * piece;

  __device__ __forceinline__ LargeProduct(double* memory, A a, B b) : memory_(memory), a_(a), b_(b) {}

  /// Sums up `count` pieces.
  __device__ __forceinline__ void add(int count) {
    clear();
    for (int p = 0; p < large_pieces - 1; ++p) {
      GAUSSWEEP_UNROLL
      for (int k = 0; k < copies; ++k) copy(k, p < count, slot(p));
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
      multiply_half<0>(slot(here), slot(here), p > 0 && p + large_pieces - 2 < count, slot(behind_that));
      if (p > 0) end_piece();
      await_piece<large_pieces - 3>();
      multiply_half<1>(slot(here), slot(next), p + large_pieces - 1 < count, slot(behind));
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
  __device__ static int row() { return warp() % 2 * 64 + 2 * g(); }  ///< the lane's first one
  __device__ static int column() { return warp() / 2 * 32; }         ///< the warp's first one
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
  __device__ __forceinline__ void copy(int k, bool wanted, double* to) {
    double* const place = k < A::copies ? to + a_.place(k) : to + A::elements + b_.place(k - A::copies);
    const double* const from = k < A::copies ? a_.from(k) : b_.from(k - A::copies);
#ifdef __CUDACC__
    tiles::copy_pack_if(wanted, static_cast<unsigned>(__cvta_generic_to_shared(place)), from);
#else
    if (wanted) simt::copy_pack(place, from);
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
  /// Multiplies half a piece. Beside each four products a copy is started, if `more`, and what the next ones
  /// want is loaded: in the end that is of the other half, in `next`.
  template <int Half>
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
        lu::multiply_16x8(sums_[m][n], left_[m % 2], right_[Half][n]);
        GAUSSWEEP_UNROLL
        for (int k = 0; k < copies / 2; ++k) {
          if (m * across + n == k * 2 * down * across / copies + 1) {
            copy(k + (1 - Half) * copies / 2, more, behind);
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

/// Tiles of a product: `across` in each of `along` rows (or columns) of them, in the triangle's direction.
/// Those with the longest sums begin.
template <int Columns>
struct LargeGrid {
  int pairs, across, along;
  LargeGrid(const LevelProduct<double>& p, int count) : pairs(count) {
    const int down = (p.rows + large_rows - 1) / large_rows, right = (p.columns + Columns - 1) / Columns;
    across = p.is_by_columns() ? down : right;
    along = p.is_by_columns() ? right : down;
  }
  int blocks() const { return pairs * across * along; }
};

/// A block a tile of C, of P P^T those that reach the diagonal or below.
template <bool Square, int Columns>
__global__ void __launch_bounds__(2 * Columns, 128 / Columns)
    multiply_large(LevelProduct<double> p, LargeGrid<Columns> grid) {
#if GAUSSWEEP_CLUSTERS
  simt::griddepcontrol_wait();
  using Product = LargeProduct<Square, Columns>;
  const int index = static_cast<int>(blockIdx.x);
  const int pair = index % grid.pairs;
  const bool by_columns = p.is_by_columns();
  const bool from = p.counts == Inner::from_columns || p.counts == Inner::from_rows;
  const int beside = index / grid.pairs % grid.across;
  const int line = index / grid.pairs / grid.across;
  const int own = from ? line : grid.along - 1 - line;
  const int row = (by_columns ? beside : own) * large_rows;
  const int column = (by_columns ? own : beside) * Columns;
  const bool last = pair + 1 == grid.pairs;
  const auto there = [](int left, int most) { return left < most ? left : most; };
  const int rows = there((last ? p.last_rows : p.rows) - row, large_rows);
  const int columns = there((last ? p.last_columns : p.columns) - column, Columns);
  if (rows <= 0 || columns <= 0 || (Square && column >= row + large_rows)) return;
  const int first_own = by_columns ? column : row;
  const int begin = from ? first_own : 0;
  const int end = from ? p.inner : first_own + (by_columns ? columns : rows);
  // The triangle's diagonal comes last (levels.cuh, multiply_by_strips).
  const int first = from ? end - large_depth : begin;
  const int step = from ? -large_depth : large_depth;
  const double* const a = p.a + pair * p.a_step + row + first * p.lda;
  const double* const b = p.b + pair * p.b_step + (Square ? column + first * p.ldb : first + column * p.ldb);
  Product product(simt::dynamic_shared<double>(), {a, p.lda, rows, step}, {b, p.ldb, columns, step});
  product.add((end - begin) / large_depth);

  double* const c = p.c + pair * p.c_step + row + column * p.ldc;
  product.for_pairs([&](int i, int j, double above, double below) {
    if (i < rows && j < columns) lu::store_two(c + i + j * p.ldc, p.factor * above, p.factor * below);
  });
#endif
}

/// Whether the GPU and the operands are such that multiply_large serves.
inline bool can_be_large(const Context& context, const LevelProduct<double>& p) {
  const auto aligned = [](const double* data, std::int64_t ld, std::int64_t step) {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % 2 == 0 && step % 2 == 0;
  };
  return simt::has_clusters(context) && aligned(p.a, p.lda, p.a_step) && aligned(p.b, p.ldb, p.b_step) &&
         aligned(p.c, p.ldc, p.c_step);
}

template <bool Square, int Columns>
void launch_large(Context& context, const LevelProduct<double>& p, const LargeGrid<Columns>& grid) {
  simt::launch_clusters(context, multiply_large<Square, Columns>, 1, static_cast<unsigned>(grid.blocks()),
                        dim3(LargeProduct<Square, Columns>::threads), LargeProduct<Square, Columns>::bytes, p,
                        grid);
}
/// `pairs` products in one launch. Tiles have 128 columns if there are so many. @pre can_be_large
template <bool Square>
void launch_large(Context& context, const LevelProduct<double>& p, int pairs, int many) {
  const LargeGrid<128> grid(p, pairs);
  if (grid.blocks() >= many) return launch_large<Square>(context, p, grid);
  launch_large<Square>(context, p, LargeGrid<64>(p, pairs));
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
