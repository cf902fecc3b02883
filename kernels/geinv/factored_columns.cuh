#pragma once
/// The inverses of small matrices in double from their factors: X = U^-1 L^-1 P, a few columns a warp.
///
/// Columns of X depend on nothing but L and U: a warp takes 8 or 16 of them through both substitutions. L and
/// U come in squares of 32 x 32 elements into shared memory, for all warps of a block. Products of tiles of
/// 8 x 8 are those of triangle_tiles.cuh, transposed: rows of A and D are columns of X. So thread t of quad g
/// has of tile i the rows 8i + 2t and 8i + 2t + 1 of column g, and what it finished is what it needs as A: it
/// keeps that in a place of its own, and no other thread reads it. Tiles on the diagonal are substituted row
/// by row, as their inverses would have an error of their condition.

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::columns {

constexpr int tile = 8;             ///< rows, and columns of a set
constexpr int tiles = 4;            ///< of a square's rows
constexpr int side = tile * tiles;  ///< of a square
/// Between columns of a square: no two lanes that load a part of a tile meet in a bank.
constexpr int pitch = lu::triangle_stride;
constexpr int square_size = side * pitch;

/// A warp has so many sets of eight columns, a block so many warps, and `Ahead` squares are on their way
/// while one is in use.
template <int Sets, int Warps, int Ahead>
struct Share {
  static constexpr int sets = Sets, warps = Warps, ahead = Ahead, threads = 32 * Warps;
  static constexpr int columns = tile * Sets * Warps;
  static_assert(Sets == 1 || Sets % 2 == 0, "products of 16 rows have two sets");
  static_assert(side * side / 2 % threads == 0, "threads have as many pairs of a square");

  static std::size_t shared_bytes(int n) {
    const int squares = (n + side - 1) / side, kept = squares > 1 ? squares * side * columns : 0;
    return static_cast<std::size_t>((Ahead + 1) * square_size + kept) * sizeof(double);
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
        x_(batch.x + system * n_ * n_),
        shared_(simt::dynamic_shared<double>()),
        packed_(n_ % 2 == 0 && reinterpret_cast<std::uintptr_t>(batch.factors) % 16 == 0 &&
                reinterpret_cast<std::uintptr_t>(batch.x) % 16 == 0) {
    GAUSSWEEP_UNROLL
    for (int s = 0; s < S::sets; ++s) {
      const int column = column_ + tile * s + g();
      of_column_[s] = column < n_ ? batch.rows[system * n_ + column] : -1;
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
      const bool inside = packed_ && i0 + side <= n_ && j0 + side <= n_;
      GAUSSWEEP_UNROLL
      for (int p = 0; p < side * side / 2; p += S::threads) {
        const int pair = p + static_cast<int>(threadIdx.x), i = pair % (side / 2) * 2, j = pair / (side / 2);
        double* const both = to + i + j * pitch;
        if (inside || (packed_ && i0 + i < n_ && j0 + j < n_)) {
          copy_two(both, from + i + j * n_);
        } else {
          GAUSSWEEP_UNROLL
          for (int q = 0; q < 2; ++q) {
            const bool is_one = i0 + i + q == j0 + j;
            both[q] = i0 + i + q < n_ && j0 + j < n_ ? from[i + q + j * n_] : is_one ? 1.0 : 0.0;
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
    if (now.is_down()) substitute_down(now.i(), square);
    if (!now.is_down() || now.is_last_row()) substitute_up(now.i(), square);
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
  /// Where the thread keeps minus what it has of a tile.
  __device__ __forceinline__ double* kept(int of_tile, int s) const {
    return shared_ + (S::ahead + 1) * square_size +
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

  /// a of tile i += minus X of the tile that the columns `k` of the square multiply.
  __device__ __forceinline__ void multiply(const double* square, int i, int k, const double (&minus)[2 * S::sets]) {
    const double* const of_tile = square + (tile * k + 2 * t()) * pitch + tile * i + g();
    const double factor[2] = {of_tile[0], of_tile[pitch]};
    if constexpr (S::sets == 1) {
      GAUSSWEEP_UNROLL
      for (int h = 0; h < 2; ++h) lu::multiply_8x8(a_[i], minus[h], factor[h]);
    } else {
      GAUSSWEEP_UNROLL
      for (int s = 0; s < 2 * S::sets; s += 4) {
        double d[4] = {a_[i][s], a_[i][s + 1], a_[i][s + 2], a_[i][s + 3]};
        const double two[4] = {minus[s], minus[s + 2], minus[s + 1], minus[s + 3]};
        lu::multiply_16x8(d, two, factor);
        GAUSSWEEP_UNROLL
        for (int e = 0; e < 4; ++e) a_[i][s + e] = d[e];
      }
    }
  }
  /// What a square beside the diagonal subtracts.
  __device__ void subtract(const Walk& now, const double* square) {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < tiles; ++k) {
      const int of_tile = tiles * now.j() + k;
      if (!is_inside(of_tile) || (now.is_down() && !counts(of_tile))) continue;
      double minus[2 * S::sets];
      GAUSSWEEP_UNROLL
      for (int s = 0; s < S::sets; ++s) lu::load_two(kept(of_tile, s), minus[2 * s], minus[2 * s + 1]);
      GAUSSWEEP_UNROLL
      for (int i = 0; i < tiles; ++i) {
        if (is_inside(tiles * now.i() + i)) multiply(square, i, k, minus);
      }
    }
  }
  __device__ __forceinline__ void take_minus(int i, double (&minus)[2 * S::sets]) const {
    GAUSSWEEP_UNROLL
    for (int e = 0; e < 2 * S::sets; ++e) minus[e] = -a_[i][e];
  }
  /// Rows 2m and 2m + 1 of a tile, from the thread of the quad that has them.
  __device__ __forceinline__ void hand_out(int i, int m, double (&x)[2 * S::sets]) const {
    GAUSSWEEP_UNROLL
    for (int e = 0; e < 2 * S::sets; ++e) x[e] = __shfl_sync(0xffffffffu, a_[i][e], lane() / 4 * 4 + m);
  }
  /// The thread's rows of tile i lose x times columns 2m and 2m + 1 of a tile on the diagonal.
  __device__ __forceinline__ void subtract_pair(const double* of_tile, bool changes, int i, int m,
                                                const double (&x)[2 * S::sets]) {
    double first[2], second[2];  // columns
    lu::load_two(of_tile + 2 * m * pitch + 2 * t(), first[0], first[1]);
    lu::load_two(of_tile + (2 * m + 1) * pitch + 2 * t(), second[0], second[1]);
    GAUSSWEEP_UNROLL
    for (int q = 0; q < 2; ++q) {
      const double of_first = changes ? -first[q] : 0.0, of_second = changes ? -second[q] : 0.0;
      GAUSSWEEP_UNROLL
      for (int s = 0; s < S::sets; ++s) {
        double& own = a_[i][2 * s + q];
        own = std::fma(of_second, x[2 * s + 1], std::fma(of_first, x[2 * s], own));
      }
    }
  }

  /// L of a square on the diagonal.
  __device__ void substitute_down(int square_row, const double* square) {
    GAUSSWEEP_UNROLL
    for (int i = 0; i < tiles; ++i) {
      const int of_row = tiles * square_row + i;
      if (!is_inside(of_row) || !counts(of_row)) continue;
      const double* const of_tile = square + tile * i * (pitch + 1);
      const double below = of_tile[2 * t() * pitch + 2 * t() + 1];
      GAUSSWEEP_UNROLL
      for (int m = 0; m < 4; ++m) {
        const double own = t() == m ? -below : 0.0;
        GAUSSWEEP_UNROLL
        for (int s = 0; s < S::sets; ++s) a_[i][2 * s + 1] = std::fma(own, a_[i][2 * s], a_[i][2 * s + 1]);
        if (m == 3) break;
        double x[2 * S::sets];
        hand_out(i, m, x);
        subtract_pair(of_tile, t() > m, i, m, x);
      }
      double minus[2 * S::sets];
      take_minus(i, minus);
      GAUSSWEEP_UNROLL
      for (int below_it = i + 1; below_it < tiles; ++below_it) {
        if (is_inside(tiles * square_row + below_it)) multiply(square, below_it, i, minus);
      }
    }
  }
  /// U of a square on the diagonal. What is finished goes to X.
  __device__ void substitute_up(int square_row, const double* square) {
    const double of_lane = 1.0 / square[lane() * (pitch + 1)];
    const bool divides = __any_sync(0xffffffffu, of_lane - of_lane != 0.0 ? 1 : 0) != 0;
    GAUSSWEEP_UNROLL
    for (int i = tiles - 1; i >= 0; --i) {
      if (!is_inside(tiles * square_row + i)) continue;
      const double* const of_tile = square + tile * i * (pitch + 1);
      const double* const own_pivot = of_tile + 2 * t() * (pitch + 1);
      const double above = own_pivot[pitch];
      double inverse[2];
      GAUSSWEEP_UNROLL
      for (int q = 0; q < 2; ++q) inverse[q] = __shfl_sync(0xffffffffu, of_lane, tile * i + 2 * t() + q);
      GAUSSWEEP_UNROLL
      for (int m = 3; m >= 0; --m) {
        const bool is_turn = t() == m;
        GAUSSWEEP_UNROLL
        for (int s = 0; s < S::sets; ++s) {
          double* const own = a_[i] + 2 * s;
          double second = own[1] * inverse[1];
          if (divides) second = own[1] / own_pivot[pitch + 1];
          const double rest = std::fma(-above, second, own[0]);
          double first = rest * inverse[0];
          if (divides) first = rest / own_pivot[0];
          own[0] = is_turn ? first : own[0];
          own[1] = is_turn ? second : own[1];
        }
        if (m == 0) break;
        double x[2 * S::sets];
        hand_out(i, m, x);
        subtract_pair(of_tile, t() < m, i, m, x);
      }
      store(tiles * square_row + i, i);
      double minus[2 * S::sets];
      take_minus(i, minus);
      GAUSSWEEP_UNROLL
      for (int above_it = 0; above_it < i; ++above_it) multiply(square, above_it, i, minus);
    }
  }
  __device__ __forceinline__ void store(int of_tile, int i) const {
    const int row = of_tile * tile + 2 * t();
    GAUSSWEEP_UNROLL
    for (int s = 0; s < S::sets; ++s) {
      if (of_column_[s] < 0) continue;
      double* const to = x_ + row + of_column_[s] * n_;
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

  int n_, squares_, first_square_;
  int column_;  ///< the warp's first
  const double* factors_;
  double* x_;
  double* shared_;
  bool packed_;
  int of_column_[S::sets];  ///< of X, or -1
  double a_[tiles][2 * S::sets];
};

/// A system's blocks are neighbours, which find its factors in the cache.
template <class S>
__global__ void __launch_bounds__(S::threads) invert_columns(Batch batch) {
  const int blocks = (batch.n + S::columns - 1) / S::columns;
  const std::int64_t system = blockIdx.x / static_cast<unsigned>(blocks);
  const int first = static_cast<int>(blockIdx.x % static_cast<unsigned>(blocks)) * S::columns;
  Columns<S>(batch, system, first).invert();
}

template <class S>
bool fits(Context& context, const Batch& batch, std::int64_t systems, bool wanted = true) {
  const std::size_t bytes = S::shared_bytes(batch.n);
  if (!wanted || bytes > simt::max_shared_bytes(context)) return false;
  const std::int64_t blocks = systems * ((batch.n + S::columns - 1) / S::columns);
  simt::launch(context, invert_columns<S>, dim3(static_cast<unsigned>(blocks)), dim3(S::threads), bytes,
               batch);
  return true;
}
inline void launch(Context& context, const Batch& batch, std::int64_t systems) {
  const char* const asked = std::getenv("COLUMNS");  // EXPERIMENT
  const char want = asked != nullptr ? asked[0] : batch.n <= 32 ? 'c' : batch.n <= 128 ? 'a' : 'b';
  if (fits<Share<2, 4, 2>>(context, batch, systems, want == 'a')) return;
  if (fits<Share<2, 2, 2>>(context, batch, systems, want == 'b')) return;
  if (fits<Share<2, 2, 0>>(context, batch, systems, want == 'c')) return;
  if (fits<Share<4, 1, 0>>(context, batch, systems, want == 'd')) return;
  if (fits<Share<1, 4, 2>>(context, batch, systems, want == 'e')) return;
  if (fits<Share<1, 8, 2>>(context, batch, systems, want == 'f')) return;
  if (fits<Share<1, 4, 0>>(context, batch, systems, want == 'g')) return;
  if (fits<Share<1, 4, 2>>(context, batch, systems)) return;
  if (fits<Share<1, 1, 2>>(context, batch, systems)) return;
  fits<Share<1, 1, 0>>(context, batch, systems);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::columns
