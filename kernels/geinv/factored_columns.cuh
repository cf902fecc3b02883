#pragma once
/// The inverses of small matrices in double from their factors: X = U^-1 L^-1 P, a few columns a warp.
///
/// Columns of X depend on nothing but L and U: a warp takes 8 or 16 of them through both substitutions. L and
/// U come in squares of 32 x 32 elements into shared memory, for all warps of a block. Products of tiles of
/// 8 x 8 are those of triangle_tiles.cuh, transposed: rows of A and D are columns of X. So thread t of quad g
/// has, of tile i, the rows 8i + 2t and 8i + 2t + 1 of column g. What it finished is what it needs as A. It
/// keeps that in a place of its own, and no other thread reads it. Tiles on the diagonal are multiplied by
/// their inverses. That of U may be large: what it leaves is multiplied once more, so that the error is that
/// of a substitution. Columns that are not finite come once more by substitution, each row of U divided by a
/// power of two near its pivot: products may have left the range before they cancelled.

#include <cmath>
#include <cstdint>

#include "kernels/getrf/small_rows.cuh"
#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::columns {

constexpr int tile = 8;             ///< rows, and columns of a set
constexpr int tiles = 4;            ///< of a square's rows
constexpr int side = tile * tiles;  ///< of a square
/// Between columns of a square: no two lanes that load a part of a tile meet in a bank.
constexpr int pitch = lu::triangle_stride;
constexpr int square_size = side * pitch;
constexpr int pairs = side / 2;  ///< of a column of it

/// A warp has `Sets` sets of eight columns, a block `Warps` warps. `Ahead` squares are on their way while one
/// is in use.
template <int Sets, int Warps, int Ahead>
struct Share {
  static constexpr int sets = Sets, warps = Warps, ahead = Ahead, threads = 32 * Warps;
  static constexpr int columns = tile * Sets * Warps;
  static_assert(Sets == 1 || Sets % 2 == 0, "products of 16 rows have two sets");
  static_assert(side * pairs % threads == 0, "threads have as many pairs of a square");

  static std::size_t shared_bytes(int n) {
    const int squares = (n + side - 1) / side, kept = squares > 1 ? squares * side * columns : 0;
    return static_cast<std::size_t>((Ahead + 1) * square_size + 2 * lu::inverses_size + kept) *
           sizeof(double);
  }
};

/// The factors of the systems, rows as they were taken; which row each step took; the inverses.
struct Batch {
  int n;
  const double* factors;
  const int* rows;
  double* x;
};

/// Squares in the order of their use: rows of L from the first that counts, then rows of U from the last. The
/// last square of L is the first of U.
class Walk {
 public:
  __device__ Walk(int first, int squares) : first_(first), squares_(squares), i_(first), j_(first) {}
  __device__ int i() const { return i_; }
  __device__ int j() const { return j_; }
  __device__ bool is_down() const { return down_; }
  __device__ bool is_done() const { return i_ < 0; }
  __device__ bool begins_row() const { return j_ == (down_ ? first_ : squares_ - 1); }
  __device__ bool is_last_row() const { return i_ == squares_ - 1; }
  __device__ void advance() {
    if (down_ && j_ < i_) {
      ++j_;
    } else if (down_ && i_ < squares_ - 1) {
      ++i_;
      j_ = first_;
    } else if (down_ || j_ == i_) {
      down_ = false;
      --i_;
      j_ = squares_ - 1;
    } else {
      --j_;
    }
  }

 private:
  int first_, squares_, i_, j_;
  bool down_ = true;
};

/// Two neighbours of a square, both at multiples of 16 bytes; seen after a wait for the copies.
__device__ __forceinline__ void copy_two(double* shared, const double* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  shared[0] = global[0];
  shared[1] = global[1];
#else
  simt::copy_pack(shared, global);
#endif
}

/// A thread's part of a block's columns, S a Share.
template <class S>
class Columns {
 public:
  __device__ Columns(const Batch& batch, std::int64_t system, int first_column)
      : n_(batch.n),
        squares_((batch.n + side - 1) / side),
        first_square_(first_column / side),
        column_(first_column + static_cast<int>(threadIdx.x) / 32 * tile * S::sets),
        factors_(batch.factors + system * n_ * n_),
        rows_(batch.rows + system * n_),
        x_(batch.x + system * n_ * n_),
        shared_(simt::dynamic_shared<double>()),
        packed_(n_ % 2 == 0 && reinterpret_cast<std::uintptr_t>(batch.factors) % 16 == 0 &&
                reinterpret_cast<std::uintptr_t>(batch.x) % 16 == 0) {
    GAUSSWEEP_UNROLL
    for (int s = 0; s < S::sets; ++s) {
      const int column = column_ + tile * s + g();
      of_column_[s] = column < n_ ? rows_[column] : -1;
    }
  }

  __device__ void invert() {
    Walk next(first_square_, squares_), now = next;
    GAUSSWEEP_UNROLL
    for (int a = 0; a < S::ahead; ++a) fetch(next, a);
    GAUSSWEEP_ROLLED
    for (int turn = 0; !now.is_done(); now.advance()) {
      if (S::ahead == 0) {
        __syncthreads();  // all have done with the last one
        fetch(next, 0);
      }
      simt::await_copy_groups<(S::ahead > 1 ? S::ahead - 1 : 0)>();
      __syncthreads();
      if (S::ahead > 0) fetch(next, turn == 0 ? S::ahead : turn - 1);
      take(now, shared_ + turn * square_size);
      turn = turn == S::ahead ? 0 : turn + 1;
    }
    if (__any_sync(0xffffffffu, not_finite_ == 0 ? 0 : 1)) substitute_again();
  }

 private:
  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  static __device__ __forceinline__ int g() { return lane() / 4; }
  static __device__ __forceinline__ int t() { return lane() % 4; }

  /// Starts to copy a square, beyond n that of the identity.
  __device__ void fetch(Walk& at, int turn) {
    if (!at.is_done()) {
      double* const to = shared_ + turn * square_size;
      const int i0 = side * at.i(), j0 = side * at.j();
      const double* const from = factors_ + i0 + j0 * n_;
      const int i = static_cast<int>(threadIdx.x) % pairs * 2, j = static_cast<int>(threadIdx.x) / pairs;
      constexpr int step = S::threads / pairs;  // columns
      if (packed_ && i0 + side <= n_ && j0 + side <= n_) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < side; c += step) copy_two(to + i + (j + c) * pitch, from + i + (j + c) * n_);
      } else {
        GAUSSWEEP_ROLLED
        for (int c = j; c < side; c += step) {
          GAUSSWEEP_UNROLL
          for (int q = 0; q < 2; ++q) {
            const bool is_inside = i0 + i + q < n_ && j0 + c < n_, is_one = i0 + i + q == j0 + c;
            to[i + q + c * pitch] = is_inside ? from[i + q + c * n_] : is_one ? 1.0 : 0.0;
          }
        }
      }
      at.advance();
    }
    simt::end_copy_group();
  }

  __device__ void take(const Walk& now, const double* square) {
    const bool is_diagonal = now.i() == now.j();
    if (now.begins_row()) begin_row(now);
    if (!is_diagonal) return subtract(now, square);
    const bool is_up = !now.is_down() || now.is_last_row();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (now.is_down() && warp == 0) lu::invert_diagonal_tiles(square, inverses(false));
    if (is_up && warp == S::warps - 1) invert_upper_tiles(now.i(), square, inverses(true));
    __syncthreads();
    if (now.is_down()) substitute_down(now.i(), square);
    if (is_up) substitute_up(now.i(), square);
    if (squares_ > 1) keep(now.i());
  }

  /// Whether the warp's columns of L^-1 have something in the tile.
  __device__ __forceinline__ bool counts(int of_tile) const { return of_tile * tile >= column_; }
  __device__ __forceinline__ bool is_inside(int of_tile) const { return of_tile * tile < n_; }

  /// Rows of the identity, or of L^-1.
  __device__ void begin_row(const Walk& now) {
    GAUSSWEEP_UNROLL
    for (int i = 0; i < tiles; ++i) {
      const int of_tile = tiles * now.i() + i;
      GAUSSWEEP_UNROLL
      for (int s = 0; s < S::sets; ++s) {
        double* const own = a_[i] + 2 * s;
        if (now.is_down()) {
          const int row = of_tile * tile + 2 * t(), column = column_ + tile * s + g();
          own[0] = row == column ? 1.0 : 0.0;
          own[1] = row + 1 == column ? 1.0 : 0.0;
        } else if (counts(of_tile)) {
          lu::load_two(kept(of_tile, s), own[0], own[1]);
          own[0] = -own[0];
          own[1] = -own[1];
        } else {
          own[0] = own[1] = 0;
        }
      }
    }
  }
  /// Of the tiles on the diagonal, as lu::invert_diagonal_tiles leaves them.
  __device__ __forceinline__ double* inverses(bool upper) const {
    return shared_ + (S::ahead + 1) * square_size + (upper ? lu::inverses_size : 0);
  }
  /// Where the thread keeps minus what it has of a tile.
  __device__ __forceinline__ double* kept(int of_tile, int s) const {
    return inverses(true) + lu::inverses_size +
           ((of_tile * S::sets + s) * S::threads + static_cast<int>(threadIdx.x)) * 2;
  }
  __device__ void keep(int square) {
    GAUSSWEEP_UNROLL
    for (int i = 0; i < tiles; ++i) {
      GAUSSWEEP_UNROLL
      for (int s = 0; s < S::sets; ++s)
        lu::store_two(kept(tiles * square + i, s), -a_[i][2 * s], -a_[i][2 * s + 1]);
    }
  }

  using Part = double[2 * S::sets];  ///< of a tile
  /// d += a B, B 8 x 8 of which the thread has `b`, transposed.
  static __device__ __forceinline__ void multiply(Part& d, const Part& a, const double (&b)[2]) {
    if constexpr (S::sets == 1) {
      GAUSSWEEP_UNROLL
      for (int h = 0; h < 2; ++h) lu::multiply_8x8(d, a[h], b[h]);
    } else {
      GAUSSWEEP_UNROLL
      for (int s = 0; s < 2 * S::sets; s += 4) {
        double sum[4] = {d[s], d[s + 1], d[s + 2], d[s + 3]};
        const double two[4] = {a[s], a[s + 2], a[s + 1], a[s + 3]};
        lu::multiply_16x8(sum, two, b);
        GAUSSWEEP_UNROLL
        for (int e = 0; e < 4; ++e) d[s + e] = sum[e];
      }
    }
  }
  /// What the thread needs of a tile whose columns are `apart`.
  static __device__ __forceinline__ void take_tile(const double* of_tile, int apart, double (&b)[2]) {
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) b[h] = of_tile[(2 * t() + h) * apart + g()];
  }
  /// Rows of tile i lose what columns of tile k have in the square; minus: of X.
  __device__ __forceinline__ void subtract_tile(const double* square, int i, int k, const Part& minus) {
    double b[2];
    take_tile(square + tile * k * pitch + tile * i, pitch, b);
    multiply(a_[i], minus, b);
  }
  /// What a square beside the diagonal subtracts.
  __device__ void subtract(const Walk& now, const double* square) {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < tiles; ++k) {
      const int of_tile = tiles * now.j() + k;
      if (!is_inside(of_tile) || (now.is_down() && !counts(of_tile))) continue;
      Part minus;
      GAUSSWEEP_UNROLL
      for (int s = 0; s < S::sets; ++s) lu::load_two(kept(of_tile, s), minus[2 * s], minus[2 * s + 1]);
      GAUSSWEEP_UNROLL
      for (int i = 0; i < tiles; ++i) {
        if (is_inside(tiles * now.i() + i)) subtract_tile(square, i, k, minus);
      }
    }
  }
  /// The inverses of the tiles of U times a power of two each, by one warp: a lane has a column. Where the
  /// pivots are tiny, products with the inverse alone would overflow before they cancel.
  __device__ __forceinline__ void invert_upper_tiles(int square_row, const double* square, double* to) const {
    const int column = lane() % tile;
    const double* const of_tile = square + lane() / tile * tile * (pitch + 1);
    const double pivot = square[lane() * (pitch + 1)];
    double largest = side * square_row + lane() < n_ ? std::fabs(pivot) : 0;
    GAUSSWEEP_UNROLL
    for (int apart = tile / 2; apart > 0; apart /= 2)
      largest = std::fmax(largest, __shfl_xor_sync(0xffffffffu, largest, apart));
    const double scale = largest < 0x1p-500 ? 0x1p512 : 1.0;
    const double of_pivot = 1.0 / (pivot * scale);
    double y[tile];
    GAUSSWEEP_UNROLL
    for (int r = 0; r < tile; ++r) y[r] = r == column ? 1.0 : 0.0;
    GAUSSWEEP_UNROLL
    for (int k = tile - 1; k >= 0; --k) {
      y[k] *= __shfl_sync(0xffffffffu, of_pivot, lane() / tile * tile + k);
      GAUSSWEEP_UNROLL
      for (int r = 0; r < k; ++r) y[r] = std::fma(-of_tile[k * pitch + r] * scale, y[k], y[r]);
    }
    GAUSSWEEP_UNROLL
    for (int r = 0; r < tile; ++r) to[lane() * lu::inverse_stride + r] = y[r];
    to[lane() * lu::inverse_stride + tile] = scale;
  }
  static __device__ __forceinline__ void scale(const Part& x, double by, Part& scaled) {
    GAUSSWEEP_UNROLL
    for (int e = 0; e < 2 * S::sets; ++e) scaled[e] = by * x[e];
  }

  /// L of a square on the diagonal.
  __device__ void substitute_down(int square_row, const double* square) {
    GAUSSWEEP_UNROLL
    for (int i = 0; i < tiles; ++i) {
      const int of_row = tiles * square_row + i;
      if (!is_inside(of_row) || !counts(of_row)) continue;
      double inverse[2];
      take_tile(inverses(false) + tile * i * lu::inverse_stride, lu::inverse_stride, inverse);
      Part x = {}, minus;
      multiply(x, a_[i], inverse);
      scale(x, 1.0, a_[i]);
      scale(x, -1.0, minus);
      GAUSSWEEP_UNROLL
      for (int later = i + 1; later < tiles; ++later) {
        if (is_inside(tiles * square_row + later)) subtract_tile(square, later, i, minus);
      }
    }
  }
  /// U of a square on the diagonal. What is finished goes to X.
  __device__ void substitute_up(int square_row, const double* square) {
    GAUSSWEEP_UNROLL
    for (int i = tiles - 1; i >= 0; --i) {
      if (!is_inside(tiles * square_row + i)) continue;
      double inverse[2], own[2];
      const double* const of_tile = inverses(true) + tile * i * lu::inverse_stride;
      const double by = of_tile[tile];
      take_tile(of_tile, lu::inverse_stride, inverse);
      take_tile(square + tile * i * (pitch + 1), pitch, own);
      GAUSSWEEP_UNROLL
      for (int h = 0; h < 2; ++h) own[h] = g() <= 2 * t() + h ? own[h] : 0.0;  // L is in its place
      Part x = {}, minus;
      multiply(x, a_[i], inverse);
      scale(x, -by, minus);
      multiply(a_[i], minus, own);
      multiply(x, a_[i], inverse);
      scale(x, by, a_[i]);
      store(tiles * square_row + i, i);
      scale(x, -by, minus);
      GAUSSWEEP_UNROLL
      for (int earlier = 0; earlier < i; ++earlier) subtract_tile(square, earlier, i, minus);
    }
  }
  __device__ __forceinline__ void store(int of_tile, int i) {
    const int row = of_tile * tile + 2 * t();
    GAUSSWEEP_UNROLL
    for (int s = 0; s < S::sets; ++s) {
      if (of_column_[s] < 0) continue;
      double* const to = x_ + row + of_column_[s] * n_;
      GAUSSWEEP_UNROLL
      for (int q = 0; q < 2; ++q) not_finite_ = std::fma(a_[i][2 * s + q], 0.0, not_finite_);
      if (packed_ && row < n_) {
        lu::store_two(to, a_[i][2 * s], a_[i][2 * s + 1]);
      } else {
        GAUSSWEEP_UNROLL
        for (int q = 0; q < 2; ++q) {
          if (row + q < n_) to[q] = a_[i][2 * s + q];
        }
      }
    }
  }

  /// The warp's columns from L and U in memory, a lane a column.
  __device__ void substitute_again() const {
    __syncwarp();
    const int column = column_ + lane();
    if (lane() >= tile * S::sets || column >= n_) return;
    double* const x = x_ + rows_[column] * n_;
    GAUSSWEEP_ROLLED
    for (int i = 0; i < n_; ++i) {
      double sum = i == column ? 1.0 : 0.0;
      GAUSSWEEP_ROLLED
      for (int k = column; k < i; ++k) sum = std::fma(-factors_[i + k * n_], x[k], sum);
      x[i] = sum;
    }
    GAUSSWEEP_ROLLED
    for (int i = n_ - 1; i >= 0; --i) {
      const double pivot = factors_[i + i * n_], scale = small::over_power_of_two(pivot);
      double sum = x[i] * scale;
      GAUSSWEEP_ROLLED
      for (int k = i + 1; k < n_; ++k) sum = std::fma(-(factors_[i + k * n_] * scale), x[k], sum);
      x[i] = sum / (pivot * scale);
    }
  }

  int n_, squares_, first_square_;
  int column_;  ///< the warp's first
  const double* factors_;
  const int* rows_;
  double* x_;
  double* shared_;
  bool packed_;
  double not_finite_ = 0;   ///< NaN, if the thread has stored something that is not finite
  int of_column_[S::sets];  ///< of X, or -1
  Part a_[tiles];
};

/// A system's blocks are neighbours, which find its factors in the cache.
template <class S>
__global__ void __launch_bounds__(S::threads) invert_columns(Batch batch) {
  const int blocks = (batch.n + S::columns - 1) / S::columns;
  const std::int64_t system = blockIdx.x / static_cast<unsigned>(blocks);
  const int first = static_cast<int>(blockIdx.x % static_cast<unsigned>(blocks)) * S::columns;
  Columns<S>(batch, system, first).invert();
}

/// @throws std::runtime_error where a block has too little shared memory for it
template <class S>
void launch_share(Context& context, const Batch& batch, std::int64_t systems) {
  const std::int64_t blocks = systems * ((batch.n + S::columns - 1) / S::columns);
  simt::launch(context, invert_columns<S>, dim3(static_cast<unsigned>(blocks)), dim3(S::threads),
               S::shared_bytes(batch.n), batch);
}
template <class S>
bool fits(Context& context, const Batch& batch) {
  return S::shared_bytes(batch.n) <= simt::max_shared_bytes(context);
}
/// As measured (docs/notebook/batched_inverses.md); the last two for GPUs with less shared memory, 48 KiB at
/// least.
inline void launch(Context& context, const Batch& batch, std::int64_t systems) {
  using Small = Share<2, 2, 0>;
  using Middle = Share<2, 4, 1>;
  using Large = Share<1, 4, 2>;
  using Narrow = Share<2, 1, 0>;
  using Least = Share<1, 1, 0>;
  if (batch.n <= 32 && fits<Small>(context, batch)) return launch_share<Small>(context, batch, systems);
  if (batch.n <= 256 && fits<Middle>(context, batch)) return launch_share<Middle>(context, batch, systems);
  if (fits<Large>(context, batch)) return launch_share<Large>(context, batch, systems);
  if (fits<Narrow>(context, batch)) return launch_share<Narrow>(context, batch, systems);
  launch_share<Least>(context, batch, systems);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::columns
