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
#include <type_traits>

#include "kernels/core/matrix.hpp"
#include "kernels/getrf/largest.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::panels {

constexpr int width = 32;  ///< columns of a panel
constexpr int group = 4;   ///< steps between two barriers

/// What a system's threads share. What has two of a kind takes turns, so that one barrier is enough.
template <class T, int Rows>
struct Desk {
  static constexpr int warps = Rows / 32;
  alignas(16) T rows[2][group][width];       ///< before the steps that took them
  alignas(16) T candidate[2][warps][width];  ///< the row that each warp would take
  T multipliers[2][group][group];
  int place[2][warps];  ///< of the candidates
  int pivots[Rows];     ///< of each step
};

/// A system on the device, n x n in columns; of a symmetric one the triangle `uplo`.
template <class T>
struct System {
  T* a;
  int n;
  Uplo uplo;
};

/// A thread's part of a system.
template <class T, int Rows, bool Symmetric>
class Panels {
 public:
  __device__ Panels(Desk<T, Rows>& desk, const System<T>& system)
      : desk_(desk), system_(system), row_(static_cast<int>(threadIdx.x)), n_(system.n) {}

  /// Factors all of A in place, rows where they were. Returns LAPACK's info, from 1.
  __device__ int factor() {
    int info = 0;
    GAUSSWEEP_ROLLED
    for (int first = 0; first < n_; first += width) {
      T a[width];
      load(first, a);
      Symmetric ? eliminate_symmetric(first, a) : eliminate(first, a);
      Symmetric ? factor_symmetric(first, a, info) : factor_panel(first, a, info);
    }
    return info;
  }

  /// X = A^-1 B for W columns, `columns` of them there, after factor().
  template <int W>
  __device__ void solve(const T* b, T* x, int columns) {
    T a[W];
    GAUSSWEEP_UNROLL
    for (int c = 0; c < W; ++c) {
      a[c] = row_ < n_ && c < columns ? b[row_ + static_cast<std::int64_t>(c) * n_] : T(0);
    }
    substitute_all(a);
    store_unknowns(x, columns, a);
  }

  /// A^-1 into `x` and then into the place of A, after factor().
  __device__ void invert(T* x) {
    GAUSSWEEP_ROLLED
    for (int first = 0; first < n_; first += width) {
      T a[width];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < width; ++c) a[c] = row_ == first + c ? T(1) : T(0);
      substitute_all(a);
      store_unknowns(x + static_cast<std::int64_t>(first) * n_, n_ - first, a);
    }
    __syncthreads();  // what is overwritten is another thread's
    for (int j = 0; row_ < n_ && j < n_; ++j)
      *place_of(step_, j) = x[step_ + static_cast<std::int64_t>(j) * n_];
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
  template <int W>
  __device__ void store_unknowns(T* x, int columns, const T (&a)[W]) const {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < W; ++c) {
      if (row_ < n_ && c < columns) x[step_ + static_cast<std::int64_t>(c) * n_] = a[c];
    }
  }

  /// The multipliers of steps k to k + 3; 0 of steps that do not change the row.
  __device__ void fetch(int k, int steps, T (&out)[group]) const {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < group; ++c) {
      const bool inside = k + c < steps && row_ < n_ && step_ > k + c;
      out[c] = inside ? *place_of(row_, k + c) : T(0);
    }
  }
  /// a -= factors times the rows of a group on the desk.
  template <int W>
  __device__ void subtract(int turn, const T (&factors)[group], T (&a)[W]) const {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < group; ++c) {
      GAUSSWEEP_UNROLL
      for (int j = 0; j < W; ++j) a[j] = std::fma(-factors[c], desk_.rows[turn][c][j], a[j]);
    }
  }

  /// What steps [0, steps) subtract from W columns of a row.
  template <int W>
  __device__ void eliminate(int steps, T (&a)[W]) {
    T next[group];
    fetch(0, steps, next);
    __syncthreads();
    GAUSSWEEP_ROLLED
    for (int k = 0; k < steps; k += group) {
      const int turn = k / group % 2;
      T factors[group];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < group; ++c) factors[c] = next[c];
      const int own = step_ - k;
      if (own >= 0 && own < group) {
        GAUSSWEEP_UNROLL
        for (int j = 0; j < W; ++j) desk_.rows[turn][own][j] = a[j];
        GAUSSWEEP_UNROLL
        for (int c = 0; c < group; ++c) desk_.multipliers[turn][own][c] = factors[c];
      }
      for (int c = steps - k; c < group; ++c) {  // a step that there is none of subtracts nothing
        if (row_ < W) desk_.rows[turn][c][row_] = T(0);
        if (row_ < group) desk_.multipliers[turn][c][row_] = T(0);
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
    constexpr int warps = Desk<T, Rows>::warps;
    const int lane = row_ % 32, warp = row_ / 32;
    GAUSSWEEP_UNROLL
    for (int c = 0; c < width; ++c) {
      if (first + c >= n_) break;
      const int turn = c % 2;
      const bool may = step_ >= first + c && row_ < n_;
      const int own_lane = lane_of_largest(may, a[c]);
      if (lane == own_lane) {
        GAUSSWEEP_UNROLL
        for (int j = c; j < width; ++j) desk_.candidate[turn][warp][j] = a[j];
        desk_.place[turn][warp] = step_;
      } else if (own_lane < 0 && lane == 0) {
        desk_.place[turn][warp] = none;
      }
      __syncthreads();
      const int of_lane = lane % warps;
      const int takes = lane_of_largest(lane < warps && desk_.place[turn][of_lane] != none,
                                        desk_.candidate[turn][of_lane][c]);
      const T* const taken = desk_.candidate[turn][takes];
      const T pivot = taken[c];
      const int place = desk_.place[turn][takes];
      if (pivot == T(0) && info == 0) info = first + c + 1;
      // As if the row in the place of this step were exchanged with the one that it takes.
      if (step_ == first + c) step_ = place;
      if (warp == takes && lane == own_lane) {
        step_ = first + c;
        desk_.pivots[step_] = place;
      } else if (may) {
        const T factor = pivot != T(0) ? a[c] / pivot : T(0);  // at 0 all of the column is 0
        GAUSSWEEP_UNROLL
        for (int j = c + 1; j < width; ++j) a[j] = std::fma(-factor, taken[j], a[j]);
        a[c] = factor;
      }
      if (row_ < n_) *place_of(row_, first + c) = a[c];
    }
  }
  __device__ void factor_symmetric(int first, T (&a)[width], int& info) {
    __syncthreads();
    GAUSSWEEP_UNROLL
    for (int c = 0; c < width; ++c) {
      if (first + c >= n_) break;
      T* const column = desk_.rows[0][c % 2];
      if (row_ >= first + c && row_ < first + width) column[row_ - first] = a[c];
      __syncthreads();
      const T pivot = column[c];
      if (!(pivot > T(0)) && info == 0) info = first + c + 1;
      if (row_ < first + c) continue;
      const T factor = a[c] / pivot;
      a[c] = a[c] / std::sqrt(pivot);
      GAUSSWEEP_UNROLL
      for (int j = c + 1; j < width; ++j) a[j] = std::fma(-factor, column[j], a[j]);
      if (row_ < n_) *place_of(row_, first + c) = a[c];
    }
  }

  /// Solves for W columns: each thread then has the unknown of its row's step.
  template <int W>
  __device__ void substitute_all(T (&a)[W]) {
    if (Symmetric) {
      substitute<true>(a);
    } else {
      eliminate(n_, a);
    }
    substitute<false>(a);
  }
  /// L y = a of a symmetric system, or L^T x = a, U x = a.
  template <bool Forward, int W>
  __device__ void substitute(T (&a)[W]) {
    __syncthreads();  // the desk is free, and other threads' elements are there
    const bool inside = row_ < n_;
    const T diagonal = inside ? *place_of(row_, step_) : T(1);
    // All wait for the row in turn: several quotients would take ten times as long as products.
    const T inverse = T(1) / diagonal;
    const bool divides = W == 1 || inverse - inverse != T(0);
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
          for (int j = 0; j < W; ++j) unknowns[j] = divides ? a[j] : a[j] * inverse;
          GAUSSWEEP_ROLLED
          for (int j = 0; divides && j < W; ++j) unknowns[j] /= diagonal;
          GAUSSWEEP_UNROLL
          for (int j = 0; j < W; ++j) a[j] = unknowns[j];
        }
        __syncthreads();
        if (!inside || (Forward ? step_ <= k : step_ >= k)) continue;
        GAUSSWEEP_UNROLL
        for (int j = 0; j < W; ++j) a[j] = std::fma(-element, unknowns[j], a[j]);
      }
    }
  }

  Desk<T, Rows>& desk_;
  System<T> system_;
  int row_, n_;
  /// That took the row; before, its place, were rows exchanged at once: it is that of no earlier step.
  int step_ = row_;
};

/// Blocks of Rows threads that a multiprocessor is to have at once: 128 registers a thread.
template <int Rows>
constexpr int blocks_at_once = 512 / Rows;

/// Calls launch(std::integral_constant of Rows) for the fewest threads. @pre n <= 512
template <class Launch>
void for_rows(std::int64_t n, Launch&& launch) {
  if (n <= 128) return launch(std::integral_constant<int, 128>());
  if (n <= 256) return launch(std::integral_constant<int, 256>());
  launch(std::integral_constant<int, 512>());
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::panels
