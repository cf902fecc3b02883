#pragma once
/// LU with partial pivoting, and Cholesky, of systems of order up to 512, one thread block per system. A
/// thread keeps one row of the current panel of 32 columns, or two rows of 16 columns, in registers. The
/// matrix stays in global memory.
///
/// Left-looking: a panel is loaded, updated by all earlier steps, factored and stored.
///
/// LU: each thread reads only its own rows. Earlier steps are applied in groups. For each group a thread
/// loads its multipliers from global memory and the pivot rows of these steps from shared memory, where the
/// owners have stored them as they are before the group. In double a group has eight steps, and one warp
/// substitutes in their rows. In float a group has four steps: instead of the rows, the multipliers are
/// solved with the triangle of these steps, whose elements are at most 1. Rows are exchanged only at the end;
/// each thread records the step in which its row was the pivot.
///
/// Cholesky: the update is a product of L with the panel's rows of L^T. The four threads of a quad compute
/// parts of four rows and then exchange them (panel_tiles.cuh). Float up to order 128 eliminates like LU.
///
/// Right-hand sides and the columns of the identity are panels that are substituted, not factored.

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/core/matrix.hpp"
#include "kernels/getrf/largest.cuh"
#include "kernels/getrf/panel_rows.cuh"
#include "kernels/getrf/panel_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::panels {

/// A thread's rows of a system; S is a Share. `Beside`: one right-hand side is eliminated together with A.
template <class T, class S, bool Symmetric, bool Beside = false>
class Panels : PanelRows<T, S, Symmetric> {
 public:
  using Base = PanelRows<T, S, Symmetric>;
  using Base::Base;

  /// Factors all of A in place without moving rows. Returns LAPACK's info, from 1.
  __device__ int factor(const T* beside = nullptr) {
    int info = 0;
    if (threadIdx.x == 0) shared_.info = 0;
    GAUSSWEEP_UNROLL
    for (int e = 0; Beside && e < Each; ++e) y_[e] = row(e) < n_ ? beside[row(e)] : T(0);
    GAUSSWEEP_ROLLED
    for (int first = 0; first < n_; first += width) {
      T a[elements];
      if constexpr (Symmetric && has_products) {
        first == 0 ? load(first, a) : subtract_symmetric(first, a);
      } else {
        load(first, a);
        if (first > 0) Symmetric ? eliminate_symmetric(first, a) : eliminate(first, a);
      }
      if constexpr (Symmetric) {
        wait();
        take_symmetric_steps<width>(first, a, info);
      } else {
        factor_panel(first, a);
      }
    }
    if (Symmetric) return info;
    wait();
    return shared_.info;
  }

  /// Computes the unknowns of the right-hand side that was eliminated together with A.
  __device__ void solve_beside(T* x) {
    if (Symmetric && row() < n_) y_[0] /= *place_of(row(), row());  // the steps computed L D L^T
    GAUSSWEEP_ROLLED
    for (int first = (n_ - 1) / width * width; first >= 0; first -= width) {
      wait();  // the shared tile is free, and other threads' elements are complete
      T a[elements];
      for_rows([&](int e) {
        T* const row_elements = a + e * width;
        const bool needs = row(e) < n_ && step_[e] < first + width;
        GAUSSWEEP_UNROLL
        for (int c = 0; c < width; ++c)
          row_elements[c] = needs && first + c < n_ && step_[e] <= first + c ? upper(e, first + c) : T(0);
        const int local_step = step_[e] - first;
        if (local_step < 0 || local_step >= width) return;
        T diagonal = 1;
        GAUSSWEEP_UNROLL
        for (int c = 0; c < width; ++c) {
          shared_.triangles[local_step * S::block_pitch + c] = row_elements[c];
          diagonal = c == local_step && row(e) < n_ ? row_elements[c] : diagonal;
        }
        shared_.triangles[local_step * S::block_pitch + local_step] = 0;
        shared_.triangles[local_step * S::block_pitch + width] = diagonal;
        shared_.unknowns[local_step] = y_[e];
      });
      wait();
      if (threadIdx.x < 32) {
        const int local_step = lane() % width;
        const T solved =
            solve_block<width>(shared_.triangles + local_step * S::block_pitch, shared_.unknowns[local_step]);
        __syncwarp();
        if (lane() < width) shared_.unknowns[local_step] = solved;
      }
      wait();
      for_rows([&](int e) {
        const int local_step = step_[e] - first;
        if (row(e) >= n_) return;
        if (local_step >= 0 && local_step < width) x[step_[e]] = shared_.unknowns[local_step];
        if (local_step >= 0) return;
        T sums[4] = {};  // four independent sums, as in solve_block
        GAUSSWEEP_UNROLL
        for (int c = 0; c < width; ++c)
          sums[c % 4] = std::fma(-a[e * width + c], shared_.unknowns[c], sums[c % 4]);
        y_[e] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
      });
    }
  }

  /// Computes X = A^-1 B for any number of columns, after factor(); b null: B is the identity.
  __device__ void solve(const T* b, T* x, int columns) {
    if constexpr (Symmetric && tensor) uses_substitution_ = !invert_triangles();
    GAUSSWEEP_ROLLED
    for (int first = 0; first < columns; first += width) {
      T a[elements];
      for_elements(
          first, columns,
          [&](int e, int c, bool inside, T& one) {
            one = !inside ? T(0) : b != nullptr ? b[at(row(e), c)] : T(row(e) == c ? 1 : 0);
          },
          a);
      substitute_down(a);
      for_elements(
          first, columns,
          [&](int e, int c, bool inside, T& one) {
            if (inside) x[at(step_[e], c)] = one;
          },
          a);
    }
    if (!Symmetric && tensor) take_triangles();
    GAUSSWEEP_ROLLED
    for (int first = 0; first < columns; first += width) {
      T a[elements];
      for_elements(
          first, columns,
          [&](int e, int c, bool inside, T& one) {
            one = inside && !accumulates ? x[at(step_[e], c)] : T(0);
          },
          a);
      substitute_up(a, x + at(0, first), min(width, columns - first));
      for_elements(
          first, columns,
          [&](int e, int c, bool inside, T& one) {
            if (inside) x[at(step_[e], c)] = one;
          },
          a);
    }
  }

  /// Moves the rows of L and U to their final positions.
  __device__ void exchange() {
    GAUSSWEEP_ROLLED
    for (int first = 0; first < n_; first += width) {
      T a[elements];
      load(first, a);
      wait();
      for_elements(
          first, n_,
          [&](int e, int c, bool inside, T& one) {
            if (inside) *place_of(step_[e], c) = one;
          },
          a);
    }
  }
  /// Stores LAPACK's pivots, but from 0.
  __device__ void store_pivots(int* pivots) const {
    for_rows([&](int e) {
      if (row(e) < n_) pivots[row(e)] = shared_.pivots[row(e)];
    });
  }
  /// Stores the row that each step took as pivot.
  __device__ void store_order(int* rows) const {
    for_rows([&](int e) {
      if (row(e) < n_) rows[step_[e]] = row(e);
    });
  }

 private:
  static constexpr bool tensor = sizeof(T) == 8, accumulates = tensor && !Symmetric;
  /// Cholesky updates a panel by a product; in float up to order 128 elimination by rows is faster.
  static constexpr bool has_products = tensor || S::rows > 128;
  static constexpr int Each = S::Each, width = S::width, none = 0x7fffffff;
  static_assert(Each == 1 || (tensor && !Symmetric), "two rows a thread are for LU in double");
  using Base::at, Base::shared_, Base::fetch, Base::subtract, Base::first_of_four, Base::for_elements,
      Base::for_rows, Base::invert_triangles, Base::is_stored, Base::load, Base::n_, Base::place_of,
      Base::row, Base::square_of, Base::step_, Base::system_, Base::take_triangles, Base::upper, Base::wait,
      Base::warp, Base::y_;

  /// Applies steps [0, steps) to the row.
  __device__ void eliminate(int steps, T (&a)[elements]) {
    if constexpr (tensor) return sweep<true>(steps, a);
    T next[group];
    fetch(0, steps, next);
    wait();
    GAUSSWEEP_ROLLED
    for (int k = 0; k < steps; k += group) {
      const int turn = k / group % 2;
      T factors[group];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < group; ++c) factors[c] = next[c];
      const int local_step = step_[0] - k;  // for steps beyond n: rows beyond n, which are 0
      if (local_step >= 0 && local_step < group) {
        GAUSSWEEP_UNROLL
        for (int j = 0; j < width; ++j) shared_.rows[turn][local_step][j] = a[j];
        GAUSSWEEP_UNROLL
        for (int c = 0; c < group; ++c) shared_.multipliers[turn][local_step][c] = factors[c];
      }
      fetch(k + group, steps, next);
      wait();
      if (step_[0] <= k) continue;
      GAUSSWEEP_UNROLL
      for (int c = group - 2; c >= 0; --c) {
        GAUSSWEEP_UNROLL
        for (int later = c + 1; later < group; ++later)
          factors[c] = std::fma(-factors[later], shared_.multipliers[turn][later][c], factors[c]);
      }
      subtract(turn, factors, a);
    }
  }
  /// Applies the earlier panels to a panel of a symmetric matrix. Accumulates the products before subtracting
  /// them, which is more accurate.
  __device__ void subtract_symmetric(int first, T (&a)[elements]) {
    wait();  // other threads store the panel's rows
    GAUSSWEEP_UNROLL
    for (int c = 0; c < width; ++c) a[c] = 0;
    if constexpr (tensor) {
      if (row() / 32 * 32 < first) return;
      add_on_tensor_cores(first, a);
    } else {
      system_.uplo == Uplo::upper ? add_products<true>(first, a) : add_products<false>(first, a);
    }
    panels::turn<1>(a);
    GAUSSWEEP_UNROLL
    for (int c = 0; c < width; ++c)
      a[c] = is_stored(0, first + c) ? *place_of(row(), first + c) - a[c] : T(0);
  }
  /// Adds the products of the thread's four rows and the panel's rows, over the columns before `first`.
  __device__ __forceinline__ void add_on_tensor_cores(int first, T (&a)[elements]) const {
    const Fetch fetch(system_.a, n_, n_, first, system_.uplo == Uplo::upper);
    const int other = first + lane() / 4 * 4;
    Left<1> left, right;
    fetch.take(first_of_four(), 0, left[0]);
    fetch.take(other, 0, right[0]);
    GAUSSWEEP_ROLLED
    for (int k = 0; k < first; k += eight) {
      Left<1> now, others;
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 8; ++e) {
        now[0][e / 4][e % 4] = left[0][e / 4][e % 4];
        others[0][e / 4][e % 4] = right[0][e / 4][e % 4];
      }
      fetch.take(first_of_four(), k + eight, left[0]);
      fetch.take(other, k + eight, right[0]);
      multiply<1>(a, now, [&](int h, int j, double& one, double& two) {
        one = others[0][h][j];
        two = others[0][h][j + 1];
      });
    }
  }
  /// The same without tensor cores: a thread multiplies its four rows by eight of the panel's 32 rows. All
  /// threads bring the panel's rows of 32 columns to shared memory; the own rows are loaded `ahead` columns
  /// early.
  /// @tparam Across the triangle is stored by rows
  template <bool Across>
  __device__ __forceinline__ void add_products(int first, T (&a)[elements]) const {
    constexpr int ahead = S::blocks > 1 ? group : eight;  // a lone block has fewer warps that hide latencies
    const bool has_rows = row() / 32 * 32 + 32 > first;   // equal for all threads of a warp
    const int own = first_of_four(), other = lane() % 4 * 8;
    // Stored by columns, rows beyond n are elements of the next column; their results are not used.
    const auto element = [&](int i, int k) { return system_.a[Across ? k + min(i, n_ - 1) * n_ : at(i, k)]; };
    T left[ahead][4];
    const auto load_left = [&](int k) {
      GAUSSWEEP_UNROLL
      for (int s = 0; s < ahead; ++s) {
        GAUSSWEEP_UNROLL
        for (int i = 0; i < 4; ++i) left[s][i] = element(own + i, k + s);
      }
    };
    if (has_rows) load_left(0);
    GAUSSWEEP_ROLLED
    for (int k = 0; k < first; k += width) {
      T* const tile = shared_.triangles + k / width % 2 * width * S::pitch;
      GAUSSWEEP_ROLLED
      for (int e = static_cast<int>(threadIdx.x); e < width * width; e += static_cast<int>(blockDim.x)) {
        const int i = Across ? e / width : e % width, c = Across ? e % width : e / width;
        tile[c * S::pitch + i] = element(first + i, k + c);
      }
      wait();
      if (!has_rows) continue;
      GAUSSWEEP_ROLLED
      for (int c = 0; c < width; c += ahead) {
        T rows[ahead][4];
        GAUSSWEEP_UNROLL
        for (int s = 0; s < ahead; ++s) {
          GAUSSWEEP_UNROLL
          for (int i = 0; i < 4; ++i) rows[s][i] = left[s][i];
        }
        if (k + c + ahead < first) load_left(k + c + ahead);
        GAUSSWEEP_UNROLL
        for (int s = 0; s < ahead; ++s) {
          T right[eight];
          GAUSSWEEP_UNROLL
          for (int j = 0; j < eight; j += 2)
            take_pair(tile + (c + s) * S::pitch + other + j, right[j], right[j + 1]);
          GAUSSWEEP_UNROLL
          for (int i = 0; i < 4; ++i) {
            GAUSSWEEP_UNROLL
            for (int j = 0; j < eight; ++j)
              a[eight * i + j] = std::fma(rows[s][i], right[j], a[eight * i + j]);
          }
        }
      }
    }
  }

  /// Applies the earlier steps to a panel of a small symmetric matrix that begins at column `first`; the rows
  /// in shared memory are those of L^T.
  __device__ void eliminate_symmetric(int first, T (&a)[elements]) {
    T next[group];
    fetch(0, first, next);
    wait();
    GAUSSWEEP_ROLLED
    for (int k = 0; k < first; k += group) {
      const int turn = k / group % 2;
      T factors[group];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < group; ++c) factors[c] = next[c];
      if (row() >= first && row() < first + width) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < group; ++c) shared_.rows[turn][c][row() - first] = factors[c];
      }
      fetch(k + group, first, next);
      wait();
      if (row() >= first) subtract(turn, factors, a);
    }
  }

  /// Factors a panel and stores it column by column.
  __device__ void factor_panel(int first, T (&a)[elements]) {
    take_steps<width>(first, a);
    if constexpr (tensor) {
      for_rows([&](int e) {
        const int local_step = step_[e] - first, k = step_[e] / eight * eight;
        if (local_step < 0 || local_step >= width) return;
        GAUSSWEEP_UNROLL
        for (int c = 0; c < eight; ++c)
          square_of(step_[e])[place_in_square(local_step % eight, c)] =
              row(e) < n_ && k + c < n_ ? *place_of(row(e), k + c) : T(0);
      });
    }
  }
  /// Runs eight elimination steps, with Count columns of the panel left, then continues with the rest. The
  /// columns move to the left by one per step, so that one loop body serves eight steps: all unrolled steps
  /// of a panel would exceed the instruction caches.
  template <int Count>
  __device__ void take_steps(int first, T (&a)[elements]) {
    const int begin = first + width - Count, end = min(begin + eight, n_);
    T* column = place_of(row(), begin);
    GAUSSWEEP_ROLLED
    for (int k = begin; k < end; ++k, column += n_) {
      const int turn = k % 2;
      bool eligible[Each], any = false;
      T largest = a[0];
      int pivot_slot = 0;
      for_rows([&](int e) {
        eligible[e] = step_[e] >= k && row(e) < n_;
        if (e > 0 && eligible[e] && (!any || is_larger(a[e * width], largest))) {
          largest = a[e * width];
          pivot_slot = e;
        }
        any = any || eligible[e];
      });
      const int own_lane = lane_of_largest(any, largest);
      if (lane() == own_lane) {
        for_rows([&](int e) {
          if (pivot_slot != e) return;
          GAUSSWEEP_UNROLL
          for (int j = 0; j < Count; ++j) shared_.candidate[turn][warp()][j] = a[e * width + j];
          shared_.place[turn][warp()] = step_[e];
          if (Beside) shared_.beside[turn][warp()] = y_[e];
        });
      } else if (S::warps > 1 && own_lane < 0 && lane() == 0) {
        shared_.place[turn][warp()] = none;
      }
      wait();
      int pivot_warp = 0;
      if (S::warps > 1) {
        const int warps = static_cast<int>(blockDim.x) / 32, of_lane = lane() < warps ? lane() : 0;
        pivot_warp = lane_of_largest(lane() < warps && shared_.place[turn][of_lane] != none,
                                     shared_.candidate[turn][of_lane][0]);
      }
      const T* const pivot_row = shared_.candidate[turn][pivot_warp];
      const T pivot = pivot_row[0], inverse = T(1) / pivot;
      const int place = shared_.place[turn][pivot_warp];
      const bool owns_pivot = warp() == pivot_warp && lane() == own_lane, divides = inverse - inverse != T(0);
      if (owns_pivot) {
        shared_.pivots[k] = place;
        if (pivot == T(0) && shared_.info == 0) shared_.info = k + 1;
      }
      T factors[Each];
      for_rows([&](int e) {
        // All rows multiply by the pivot's inverse; the remainder corrects the quotient. If the pivot is 0,
        // the whole column is 0.
        const T head = a[e * width], about = head * inverse;
        T factor = std::fma(std::fma(-about, pivot, head), inverse, about);
        if (divides) factor = pivot == T(0) ? T(0) : head / pivot;
        const bool is_taken = owns_pivot && pivot_slot == e, changes = eligible[e] && !is_taken;
        factors[e] = changes ? factor : T(0);
        if (row(e) < n_) column[32 * e] = changes ? factor : head;
        // Tracks the exchange of the row at this step's position with the pivot row.
        step_[e] = is_taken ? k : step_[e] == k ? place : step_[e];
      });
      subtract_and_move<Count, Each>(factors, pivot_row, a);  // factors are 0 for rows that do not change
      if (Beside) {
        const T other = shared_.beside[turn][pivot_warp];
        for_rows([&](int e) { y_[e] = std::fma(-factors[e], other, y_[e]); });
      }
    }
    if constexpr (Count > eight) take_steps<Count - eight>(first, a);
  }
  template <int Count>
  __device__ void take_symmetric_steps(int first, T (&a)[elements], int& info) {
    const int begin = first + width - Count, end = min(begin + eight, n_);
    GAUSSWEEP_ROLLED
    for (int k = begin; k < end; ++k) {
      T* const column = shared_.rows[0][k % 2];  // elements from row k on
      // In double, one thread divides and takes the root for all: the others lack units for it.
      T* const scales = shared_.rows[1][k % 2];
      if (row() >= k && row() < first + width) column[row() - k] = a[0];
      if (tensor && row() == k) {
        const T root = std::sqrt(a[0]);
        scales[0] = T(1) / a[0];
        scales[1] = root;
        scales[2] = T(1) / root;
      }
      if (Beside && row() == k) shared_.beside[k % 2][0] = y_[0];
      wait();
      const T pivot = column[0];
      if (!(pivot > T(0)) && info == 0) info = k + 1;
      if (row() / 32 * 32 + 31 < k) continue;  // uniform for the warp
      T factor[1], of_row;                     // unused for rows before k
      const T inverse = tensor ? scales[0] : T(0);
      if (inverse >= std::numeric_limits<T>::min() && inverse <= std::numeric_limits<T>::max()) {
        // The remainder corrects the product with an inverse.
        const auto quotient = [&](T over, T divisor) {
          const T about = a[0] * over;
          return std::fma(std::fma(-about, divisor, a[0]), over, about);
        };
        factor[0] = quotient(inverse, pivot);
        of_row = quotient(scales[2], scales[1]);
      } else {
        factor[0] = a[0] / pivot;
        of_row = a[0] / std::sqrt(pivot);
      }
      if (row() >= k && row() < n_) *place_of(row(), k) = of_row;
      subtract_and_move<Count, 1>(factor, column, a);
      if (Beside && row() > k) y_[0] = std::fma(-factor[0], shared_.beside[k % 2][0], y_[0]);
    }
    if constexpr (Count > eight) take_symmetric_steps<Count - eight>(first, a, info);
  }

  /// Solves L y = a, or L^T x = a, or U x = a, for the first `steps` steps. LU substitutes in groups of eight
  /// steps, because the inverse of their triangle may be large and would cause different errors from row to
  /// row. Cholesky multiplies by the inverses. For U, the subtracted products are accumulated separately: a
  /// begins at 0, and the right-hand sides are `columns` columns of `given`, in the order of steps.
  template <bool Forward>
  __device__ void sweep(int steps, T (&a)[elements], const T* given = nullptr, int columns = 0) {
    constexpr int part = width / 4;
    const bool by_rows = Symmetric && (system_.uplo == Uplo::upper) == Forward;
    const Fetch fetch(system_.a, n_, n_, min(steps, n_), by_rows);
    const int groups = (steps + eight - 1) / eight, t = lane() % 4;
    int step_of[Each][4];
    Left<Each> left;
    const auto first_of = [&](int turn) { return eight * (Forward ? turn : groups - 1 - turn); };
    for_rows([&](int e) {
      GAUSSWEEP_UNROLL
      for (int i = 0; i < 4; ++i) step_of[e][i] = __shfl_sync(0xffffffffu, step_[e], lane() / 4 * 4 + i);
    });
    panels::turn<Each>(a);
    wait();
    GAUSSWEEP_ROLLED
    for (int turn = 0; turn < groups; ++turn) {
      const int k = first_of(turn);
      T(*const shared)[S::pitch] = shared_.rows[turn % 2];
      for_rows([&](int e) { fetch.take(first_of_four(e), k, left[e]); });
      const int column = Forward ? columns : static_cast<int>(threadIdx.x);
      T y[eight];  // the column that this thread substitutes
      GAUSSWEEP_UNROLL
      for (int r = 0; r < eight; ++r) y[r] = column < columns && k + r < n_ ? given[at(k + r, column)] : T(0);
      for_rows([&](int e) {
        GAUSSWEEP_UNROLL
        for (int i = 0; i < 4; ++i) {
          const int local_step = step_of[e][i] - k;
          GAUSSWEEP_UNROLL
          for (int h = 0; h < 2; ++h) {
            const int apart = local_step - 2 * t - h;
            double& one = left[e][h][i];
            one = (Forward ? local_step >= eight : local_step < 0) ? one : apart == 0 ? -1.0 : 0.0;
            if (!Symmetric) one = -one;
          }
          if (local_step < 0 || local_step >= eight) continue;
          GAUSSWEEP_UNROLL
          for (int s = 0; s < part; ++s) {  // the product returns these elements
            T& one = a[part * (4 * e + i) + s];
            shared[local_step][part * t + s] = one;
            one = 0;
          }
        }
      });
      wait();
      if constexpr (!Symmetric) {
        if (threadIdx.x < width) substitute_square<Forward>(square_of(k), shared_.inverses() + k, y, shared);
        wait();
      } else {
        double square[2];
        take_square(square_of(k), Symmetric && !Forward, square);
        for_rows([&](int e) { multiply_square(left[e], square); });
      }
      multiply<Each>(a, left, [&](int h, int j, double& first, double& second) {
        take_pair(&shared[2 * t + h][lane() / 4 * part / 2 + j], first, second);
      });
    }
    panels::turn<Each>(a);
  }

  __device__ void substitute_down(T (&a)[elements]) {
    if constexpr (Symmetric && tensor) {
      if (uses_substitution_) return substitute<true>(a);
    }
    if constexpr (tensor) return sweep<true>(n_, a);
    if (Symmetric) {
      substitute<true>(a);
    } else {
      eliminate(n_, a);
    }
  }
  __device__ void substitute_up(T (&a)[elements], const T* given, int columns) {
    if constexpr (Symmetric && tensor) {
      if (uses_substitution_) return substitute<false>(a);
    }
    if constexpr (tensor) return sweep<false>(n_, a, given, columns);
    substitute<false>(a);
  }

  /// Solves L y = a of a symmetric system, or L^T x = a, or U x = a.
  template <bool Forward>
  __device__ void substitute(T (&a)[elements]) {
    wait();  // the shared tile is free, and other threads' elements are complete
    const bool inside = row() < n_;
    const T diagonal = inside ? *place_of(row(), step_[0]) : T(1);
    // All threads wait for the current row. Multiplications by the inverse are ten times as fast as several
    // divisions.
    const T inverse = T(1) / diagonal;
    const bool divides = inverse - inverse != T(0);
    const auto step = [&](int turn) { return Forward ? turn : n_ - 1 - turn; };
    const auto fetch_element = [&](int turn) {
      const int k = step(turn);
      const bool wanted = inside && turn < n_ && (Forward ? step_[0] > k : step_[0] < k);
      return !wanted ? T(0) : Symmetric && !Forward ? *place_of(k, row()) : *place_of(row(), k);
    };
    T next[group];  // elements for the next steps
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
        T* const unknowns = shared_.rows[c % 2][0];
        if (step_[0] == k) {
          GAUSSWEEP_UNROLL
          for (int j = 0; j < width; ++j) unknowns[j] = divides ? a[j] : a[j] * inverse;
          GAUSSWEEP_ROLLED
          for (int j = 0; divides && j < width; ++j) unknowns[j] /= diagonal;
          GAUSSWEEP_UNROLL
          for (int j = 0; j < width; ++j) a[j] = unknowns[j];
        }
        wait();
        if (!inside || (Forward ? step_[0] <= k : step_[0] >= k)) continue;
        GAUSSWEEP_UNROLL
        for (int j = 0; j < width; ++j) a[j] = std::fma(-element, unknowns[j], a[j]);
      }
    }
  }

  bool uses_substitution_ = false;  ///< for Cholesky in double: substitute, because the inverses of the
                                    ///< triangles are not accurate enough
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::panels
