#pragma once
/// LU with partial pivoting, and Cholesky, of systems of order up to Rows, a block a system: a thread has a
/// row of the panel of 32 columns that is in turn, in registers; the matrix stays in global memory.
///
/// Left-looking: a panel is read, loses what all earlier steps subtract from it, is factored and written. In
/// doing so a thread reads its own row alone: of each four steps it takes its multipliers from memory and the
/// rows of these steps from shared memory, where their threads have put them. They put them there as they are
/// before the four steps, so that all can do so at once; instead of those rows, the multipliers are solved
/// for the triangle of these steps, whose elements are at most 1. Thus there is a barrier for four steps.
/// Rows are not exchanged before the end: a thread knows by which step its row was taken.
///
/// Right-hand sides, and the columns of the identity, are panels that are not factored but substituted.

#include <cmath>
#include <cstdint>

#include "kernels/core/matrix.hpp"
#include "kernels/getrf/largest.cuh"
#include "kernels/getrf/panel_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::panels {

/// A thread's part of a system. `Beside`: a right-hand side takes part in the steps.
template <class T, int Rows, bool Symmetric, bool Beside = false>
class Panels {
 public:
  static constexpr bool tensor = sizeof(T) == 8;

  __device__ Panels(Desk<T, Rows>& desk, const System<T>& system)
      : desk_(desk), system_(system), row_(static_cast<int>(threadIdx.x)), n_(system.n) {}

  /// Factors all of A in place, rows where they were. Returns LAPACK's info, from 1.
  __device__ int factor(const T* beside = nullptr) {
    int info = 0;
    if (Beside) y_ = row_ < n_ ? beside[row_] : T(0);
    GAUSSWEEP_ROLLED
    for (int first = 0; first < n_; first += width) {
      T a[width];
      if constexpr (Symmetric && tensor) {
        first == 0 ? load(first, a) : subtract_symmetric(first, a);
      } else {
        load(first, a);
        if (first > 0) Symmetric ? eliminate_symmetric(first, a) : eliminate(first, a);
      }
      if (Symmetric) {
        __syncthreads();
        take_symmetric_steps<width>(first, a, info);
      } else {
        factor_panel(first, a, info);
      }
    }
    return info;
  }

  /// The unknowns of the right-hand side that took part.
  __device__ void solve_beside(T* x) {
    if (Symmetric && row_ < n_) y_ /= *place_of(row_, row_);  // the steps were those of L D L^T
    GAUSSWEEP_ROLLED
    for (int first = (n_ - 1) / width * width; first >= 0; first -= width) {
      __syncthreads();  // the desk is free, and other threads' elements are there
      T a[width];
      const bool needs = row_ < n_ && step_ < first + width;
      GAUSSWEEP_UNROLL
      for (int c = 0; c < width; ++c)
        a[c] = needs && first + c < n_ && step_ <= first + c ? upper(first + c) : T(0);
      const int own = step_ - first;
      if (own >= 0 && own < width) {
        T diagonal = 1;
        GAUSSWEEP_UNROLL
        for (int c = 0; c < width; ++c) {
          desk_.triangles[own * block_pitch + c] = a[c];
          diagonal = c == own && row_ < n_ ? a[c] : diagonal;
        }
        desk_.triangles[own * block_pitch + own] = diagonal;
        desk_.unknowns[own] = y_;
      }
      __syncthreads();
      if (row_ < 32)
        desk_.unknowns[row_] = solve_block(desk_.triangles + row_ * block_pitch, desk_.unknowns[row_]);
      __syncthreads();
      if (row_ >= n_) continue;
      if (own >= 0 && own < width) x[step_] = desk_.unknowns[own];
      if (own >= 0) continue;
      GAUSSWEEP_UNROLL
      for (int c = 0; c < width; ++c) y_ = std::fma(-a[c], desk_.unknowns[c], y_);
    }
  }

  /// X = A^-1 B for any number of columns, after factor(); b null: the identity, whose columns then come in
  /// the order in which steps took their rows, so that each begins with zeros.
  __device__ void solve(const T* b, T* x, int columns) {
    if (Symmetric && tensor) take_triangles();
    if (b == nullptr && row_ < n_) desk_.pivots[step_] = row_;
    GAUSSWEEP_ROLLED
    for (int first = 0; first < columns; first += width) {
      T a[width];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < width; ++c) {
        const bool inside = row_ < n_ && first + c < columns;
        a[c] = !inside ? T(0) : b != nullptr ? b[at(row_, first + c)] : T(step_ == first + c ? 1 : 0);
      }
      substitute_down(b != nullptr ? 0 : first, a);
      GAUSSWEEP_UNROLL
      for (int c = 0; c < width; ++c) {
        if (row_ < n_ && first + c < columns)
          x[at(row_, b != nullptr ? first + c : desk_.pivots[first + c])] = a[c];
      }
    }
    if (!Symmetric && tensor) take_triangles();
    GAUSSWEEP_ROLLED
    for (int first = 0; first < columns; first += width) {
      T a[width];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < width; ++c) a[c] = row_ < n_ && first + c < columns ? x[at(row_, first + c)] : T(0);
      substitute_up(a);
      GAUSSWEEP_UNROLL
      for (int c = 0; c < width; ++c) {
        if (row_ < n_ && first + c < columns) x[at(step_, first + c)] = a[c];
      }
    }
  }

  /// Moves the rows of L and U to their places; pivots as LAPACK's, but from 0.
  __device__ void exchange(int* pivots) {
    GAUSSWEEP_ROLLED
    for (int first = 0; first < n_; first += width) {
      T a[width];
      load(first, a);
      __syncthreads();
      GAUSSWEEP_UNROLL
      for (int c = 0; c < width; ++c) {
        if (row_ < n_ && first + c < n_) *place_of(step_, first + c) = a[c];
      }
    }
    if (row_ < n_) pivots[row_] = desk_.pivots[row_];
  }

 private:
  static constexpr int none = 0x7fffffff;

  __device__ T* place_of(int i, int j) const {
    const bool mirrored = Symmetric && system_.uplo == Uplo::upper;
    return system_.a + (mirrored ? j + i * n_ : i + j * n_);
  }
  __device__ bool is_stored(int j) const { return row_ < n_ && j < n_ && (!Symmetric || j <= row_); }

  __device__ void load(int first, T (&a)[width]) const {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < width; ++c) a[c] = is_stored(first + c) ? *place_of(row_, first + c) : T(0);
  }
  __device__ int at(int i, int j) const { return i + j * n_; }
  /// Element k of the row of U.
  __device__ T upper(int k) const { return Symmetric ? *place_of(k, row_) : *place_of(row_, k); }

  /// The multipliers of steps k to k + 3; 0 of steps that do not change the row.
  __device__ void fetch(int k, int steps, T (&out)[group]) const {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < group; ++c) {
      const bool inside = k + c < steps && row_ < n_ && step_ > k + c;
      out[c] = inside ? *place_of(row_, k + c) : T(0);
    }
  }
  /// a -= factors times the rows of a group on the desk.
  __device__ void subtract(int turn, const T (&factors)[group], T (&a)[width]) const {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < group; ++c) {
      GAUSSWEEP_UNROLL
      for (int j = 0; j < width; ++j) a[j] = std::fma(-factors[c], desk_.rows[turn][c][j], a[j]);
    }
  }

  /// What steps [0, steps) subtract from the row.
  __device__ void eliminate(int steps, T (&a)[width]) {
    if constexpr (tensor) return sweep<true>(0, steps, a);
    T next[group];
    fetch(0, steps, next);
    __syncthreads();
    GAUSSWEEP_ROLLED
    for (int k = 0; k < steps; k += group) {
      const int turn = k / group % 2;
      T factors[group];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < group; ++c) factors[c] = next[c];
      const int own = step_ - k;  // behind the last step those of rows beyond n, which are 0
      if (own >= 0 && own < group) {
        GAUSSWEEP_UNROLL
        for (int j = 0; j < width; ++j) desk_.rows[turn][own][j] = a[j];
        GAUSSWEEP_UNROLL
        for (int c = 0; c < group; ++c) desk_.multipliers[turn][own][c] = factors[c];
      }
      fetch(k + group, steps, next);
      __syncthreads();
      if (step_ <= k) continue;
      GAUSSWEEP_UNROLL
      for (int c = group - 2; c >= 0; --c) {
        GAUSSWEEP_UNROLL
        for (int later = c + 1; later < group; ++later)
          factors[c] = std::fma(-factors[later], desk_.multipliers[turn][later][c], factors[c]);
      }
      subtract(turn, factors, a);
    }
  }
  /// A panel without what earlier ones subtract, which is added up first: the error is smaller.
  __device__ void subtract_symmetric(int first, T (&a)[width]) {
    __syncthreads();  // the panel's rows are other threads'
    if (row_ / 32 * 32 < first) return;
    GAUSSWEEP_UNROLL
    for (int c = 0; c < width; ++c) a[c] = 0;
    const Fetch fetch(system_.a, n_, n_, first, system_.uplo == Uplo::upper);
    const int other = first + lane() / 4 * 4;
    double left[2][4], right[2][4];
    fetch.take(first_of_four(), 0, left);
    fetch.take(other, 0, right);
    GAUSSWEEP_ROLLED
    for (int k = 0; k < first; k += eight) {
      double now[2][4], others[2][4];
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 8; ++e) {
        now[e / 4][e % 4] = left[e / 4][e % 4];
        others[e / 4][e % 4] = right[e / 4][e % 4];
      }
      fetch.take(first_of_four(), k + eight, left);
      fetch.take(other, k + eight, right);
      multiply(a, now, [&](int h, int j, double& one, double& two) {
        one = others[h][j];
        two = others[h][j + 1];
      });
    }
    panels::turn(a);
    GAUSSWEEP_UNROLL
    for (int c = 0; c < width; ++c) a[c] = (is_stored(first + c) ? *place_of(row_, first + c) : T(0)) - a[c];
  }
  /// The same of a panel that begins with column `first`: the rows on the desk are those of L^T.
  __device__ void eliminate_symmetric(int first, T (&a)[width]) {
    T next[group];
    fetch(0, first, next);
    __syncthreads();
    GAUSSWEEP_ROLLED
    for (int k = 0; k < first; k += group) {
      const int turn = k / group % 2;
      T factors[group];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < group; ++c) factors[c] = next[c];
      if (row_ >= first && row_ < first + width) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < group; ++c) desk_.rows[turn][c][row_ - first] = factors[c];
      }
      fetch(k + group, first, next);
      __syncthreads();
      if (row_ >= first) subtract(turn, factors, a);
    }
  }

  /// The steps of a panel, which is written column by column.
  __device__ void factor_panel(int first, T (&a)[width], int& info) {
    take_steps<width>(first, a, info);
    if constexpr (tensor) {
      const int own = step_ - first, k = step_ / eight * eight;
      if (own >= 0 && own < width) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < eight; ++c)
          square_of(step_)[place_in_square(own % eight, c)] =
              row_ < n_ && k + c < n_ ? *place_of(row_, k + c) : T(0);
      }
      __syncthreads();
      if (row_ / 32 == first / 32) invert_square<true>(square_of(first + lane()));
    }
  }
  /// Its last Left columns. They move to the left by one in every step, which keeps the loop one: a panel's
  /// steps one after another are more than the caches of instructions hold.
  template <int Left>
  __device__ void take_steps(int first, T (&a)[width], int& info) {
    constexpr int warps = Desk<T, Rows>::warps;
    const int warp = row_ / 32, begin = first + width - Left, end = min(begin + eight, n_);
    GAUSSWEEP_ROLLED
    for (int k = begin; k < end; ++k) {
      const int turn = k % 2;
      const bool may = step_ >= k && row_ < n_;
      const int own_lane = lane_of_largest(may, a[0]);
      if (lane() == own_lane) {
        GAUSSWEEP_UNROLL
        for (int j = 0; j < Left; ++j) desk_.candidate[turn][warp][j] = a[j];
        desk_.place[turn][warp] = step_;
        if (Beside) desk_.beside[turn][warp] = y_;
      } else if (own_lane < 0 && lane() == 0) {
        desk_.place[turn][warp] = none;
      }
      __syncthreads();
      int takes = 0;
      if (warps > 1) {
        const int of_lane = lane() % warps;
        takes = lane_of_largest(lane() < warps && desk_.place[turn][of_lane] != none,
                                desk_.candidate[turn][of_lane][0]);
      }
      const T* const taken = desk_.candidate[turn][takes];
      const T pivot = taken[0];
      const int place = desk_.place[turn][takes];
      if (pivot == T(0) && info == 0) info = k + 1;
      // As if the row in the place of this step were exchanged with the one that it takes.
      if (step_ == k) step_ = place;
      const bool is_taken = warp == takes && lane() == own_lane;
      T factor = 0;
      if (is_taken) {
        step_ = k;
        desk_.pivots[k] = place;
      } else if (may && pivot != T(0)) {  // at 0 all of the column is 0
        factor = a[0] / pivot;
      }
      const bool changes = may && !is_taken;
      if (row_ < n_) *place_of(row_, k) = changes ? factor : a[0];
      if (changes) {
        subtract_and_move<Left>(factor, taken, a);
      } else {
        GAUSSWEEP_UNROLL
        for (int j = 1; j < Left; ++j) a[j - 1] = a[j];
      }
      if (Beside && changes) y_ = std::fma(-factor, desk_.beside[turn][takes], y_);
    }
    if constexpr (Left > eight) take_steps<Left - eight>(first, a, info);
  }
  template <int Left>
  __device__ void take_symmetric_steps(int first, T (&a)[width], int& info) {
    const int begin = first + width - Left, end = min(begin + eight, n_);
    GAUSSWEEP_ROLLED
    for (int k = begin; k < end; ++k) {
      T* const column = desk_.rows[0][k % 2];  // from row k on
      if (row_ >= k && row_ < first + width) column[row_ - k] = a[0];
      if (Beside && row_ == k) desk_.beside[k % 2][0] = y_;
      __syncthreads();
      const T pivot = column[0];
      if (!(pivot > T(0)) && info == 0) info = k + 1;
      if (row_ < k) continue;
      const T factor = a[0] / pivot;
      if (row_ < n_) *place_of(row_, k) = a[0] / std::sqrt(pivot);
      subtract_and_move<Left>(factor, column, a);
      if (Beside && row_ > k) y_ = std::fma(-factor, desk_.beside[k % 2][0], y_);
    }
    if constexpr (Left > eight) take_symmetric_steps<Left - eight>(first, a, info);
  }

  /// minus the inverse of the triangle of eight steps to which `step` belongs; on the way up U's triangle.
  __device__ T* square_of(int step) const { return desk_.triangles + step / eight * 64; }
  /// Of all steps: of L of a symmetric system, or of U.
  __device__ void take_triangles() {
    __syncthreads();
    GAUSSWEEP_UNROLL
    for (int c = 0; c < eight; ++c) {
      const int k = step_ / eight * eight + c;
      const bool inside = row_ < n_ && k < n_ && (Symmetric ? k <= step_ : k >= step_);
      square_of(step_)[place_in_square(step_ % eight, c)] =
          inside ? *place_of(row_, k) : T(k == step_ ? 1 : 0);
    }
    __syncthreads();
    if (Symmetric) invert_square<false>(square_of(row_));
  }

  /// L y = a, or L^T x = a, U x = a, of the steps from `begin` to before `steps`. U is substituted: an
  /// inverse of eight steps of it may be large, so that its rows' errors would be, and differ from row to
  /// row.
  /// @pre begin is a multiple of eight; 0 on the way up
  template <bool Forward>
  __device__ void sweep(int begin, int steps, T (&a)[width]) {
    constexpr bool substitutes = !Symmetric && !Forward;
    const bool by_rows = Symmetric && (system_.uplo == Uplo::upper) == Forward;
    const Fetch fetch(system_.a, n_, n_, min(steps, n_), by_rows);
    const int groups = (steps - begin + eight - 1) / eight, row = first_of_four(), t = lane() % 4;
    int step_of[4];
    GAUSSWEEP_UNROLL
    for (int i = 0; i < 4; ++i) step_of[i] = __shfl_sync(0xffffffffu, step_, lane() / 4 * 4 + i);
    const auto first_of = [&](int turn) {
      return Forward ? begin + eight * turn : eight * (groups - 1 - turn);
    };
    double next[2][4];
    fetch.take(row, first_of(0), next);
    panels::turn(a);
    __syncthreads();
    GAUSSWEEP_ROLLED
    for (int turn = 0; turn < groups; ++turn) {
      const int k = first_of(turn);
      T(*const desk)[pitch] = desk_.rows[turn % 2];
      double left[2][4], square[2];
      GAUSSWEEP_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int own = step_of[i] - k;
        GAUSSWEEP_UNROLL
        for (int h = 0; h < 2; ++h) {
          const int apart = own - 2 * t - h;
          left[h][i] = (Forward ? own >= eight : own < 0) ? next[h][i] : apart == 0 ? -1.0 : 0.0;
          if (substitutes) left[h][i] = -left[h][i];
        }
        if (own < 0 || own >= eight) continue;
        GAUSSWEEP_UNROLL
        for (int s = 0; s < 8; ++s) {  // all of it comes back by the product
          desk[own][8 * t + s] = a[8 * i + s];
          a[8 * i + s] = 0;
        }
      }
      __syncthreads();
      if (substitutes) {
        if (row_ < 32) substitute_square(square_of(k), desk);
        __syncthreads();
      } else {
        take_square(square_of(k), Symmetric && !Forward, square);
        multiply_square(left, square);
      }
      if (turn + 1 < groups) fetch.take(row, first_of(turn + 1), next);
      multiply(a, left, [&](int h, int j, double& first, double& second) {
        take_pair(&desk[2 * t + h][lane() / 4 * 4 + j], first, second);
      });
    }
    panels::turn(a);
  }

  /// @param begin before this step all of `a` is 0
  __device__ void substitute_down(int begin, T (&a)[width]) {
    if constexpr (tensor) return sweep<true>(begin, n_, a);
    if (Symmetric) {
      substitute<true>(a);
    } else {
      eliminate(n_, a);
    }
  }
  __device__ void substitute_up(T (&a)[width]) {
    if constexpr (tensor) return sweep<false>(0, n_, a);
    substitute<false>(a);
  }

  /// L y = a of a symmetric system, or L^T x = a, U x = a.
  template <bool Forward>
  __device__ void substitute(T (&a)[width]) {
    __syncthreads();  // the desk is free, and other threads' elements are there
    const bool inside = row_ < n_;
    const T diagonal = inside ? *place_of(row_, step_) : T(1);
    // All wait for the row in turn: several quotients would take ten times as long as products.
    const T inverse = T(1) / diagonal;
    const bool divides = inverse - inverse != T(0);
    const auto step = [&](int turn) { return Forward ? turn : n_ - 1 - turn; };
    const auto fetch_element = [&](int turn) {
      const int k = step(turn);
      const bool wanted = inside && turn < n_ && (Forward ? step_ > k : step_ < k);
      return !wanted ? T(0) : Symmetric && !Forward ? *place_of(k, row_) : *place_of(row_, k);
    };
    T next[group];  // steps
    GAUSSWEEP_UNROLL
    for (int c = 0; c < group; ++c) next[c] = fetch_element(c);
    GAUSSWEEP_ROLLED
    for (int turn = 0; turn < n_; turn += group) {
      GAUSSWEEP_UNROLL
      for (int c = 0; c < group; ++c) {
        if (turn + c >= n_) break;
        const int k = step(turn + c);
        const T element = next[c];
        next[c] = fetch_element(turn + group + c);
        T* const unknowns = desk_.rows[c % 2][0];
        if (step_ == k) {
          GAUSSWEEP_UNROLL
          for (int j = 0; j < width; ++j) unknowns[j] = divides ? a[j] : a[j] * inverse;
          GAUSSWEEP_ROLLED
          for (int j = 0; divides && j < width; ++j) unknowns[j] /= diagonal;
          GAUSSWEEP_UNROLL
          for (int j = 0; j < width; ++j) a[j] = unknowns[j];
        }
        __syncthreads();
        if (!inside || (Forward ? step_ <= k : step_ >= k)) continue;
        GAUSSWEEP_UNROLL
        for (int j = 0; j < width; ++j) a[j] = std::fma(-element, unknowns[j], a[j]);
      }
    }
  }

  Desk<T, Rows>& desk_;
  System<T> system_;
  int row_, n_;
  /// That took the row; before, its place, were rows exchanged at once: it is that of no earlier step.
  int step_ = row_;
  T y_ = 0;  ///< of the right-hand side
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::panels
