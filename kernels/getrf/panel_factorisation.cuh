#pragma once
/// LU with partial pivoting, and Cholesky, of systems of order up to 512, one thread block per system. A
/// thread keeps one row of the current panel of 32 columns, or two rows of 16 columns, in registers. The
/// matrix stays in global memory. Left-looking: a panel is loaded, updated by all earlier steps, factored and
/// stored.
///
/// In LU, each thread reads only its own rows. Earlier elimination steps are applied in groups. For each
/// group a thread loads its multipliers from global memory. The owners of the group's pivot rows store these
/// rows in shared memory, not yet updated by the group's own steps. In double a group has eight steps, and
/// one warp updates the pivot rows by substitution with the unit triangle of these steps. In float a group
/// has four steps, and every thread applies the inverse of that triangle to its multipliers instead. Both
/// give multipliers * triangle^-1 * pivot rows. Rows are exchanged only at the end; each thread records the
/// step in which its row was the pivot.
///
/// In Cholesky, the update is the product of the earlier columns of L with the panel's part of L^T. The four
/// threads of a quad compute parts of four rows and then exchange them (panel_tiles.cuh). In float up to
/// order 128, the update eliminates step by step like LU, which is faster there.
///
/// One right-hand side can be eliminated together with A, and is then solved for by back substitution. For
/// several right-hand sides see factored_solve.cuh.

#include <cmath>
#include <cstdint>

#include "kernels/core/matrix.hpp"
#include "kernels/getrf/largest.cuh"
#include "kernels/getrf/panel_rows.cuh"
#include "kernels/getrf/panel_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::panels {

/// A thread's part of the factorisation and solution of one system. The base class (panel_rows.cuh) holds the
/// thread's rows. position_ has the positions that LAPACK's row exchanges would give the rows. The position
/// of a pivot row is the number of its elimination step. y_ has the rows' elements of the right-hand side.
/// @tparam Split a PanelSplit
/// @tparam Symmetric true for Cholesky, false for LU
/// @tparam WithRhs one right-hand side is eliminated together with A
template <class T, class Split, bool Symmetric, bool WithRhs = false>
class PanelFactorisation : PanelRows<T, Split, Symmetric> {
 public:
  using Base = PanelRows<T, Split, Symmetric>;
  using Base::Base;

  /// Factors all of A in place without moving rows. If WithRhs, also applies the elimination steps to `rhs`.
  /// Returns LAPACK's info.
  __device__ int factor(const T* rhs = nullptr) {
    int info = 0;
    if (threadIdx.x == 0) shared_.info = 0;
    GAUSSWEEP_UNROLL
    for (int e = 0; WithRhs && e < RowsPerThread; ++e) y_[e] = row(e) < n_ ? rhs[row(e)] : T(0);
    GAUSSWEEP_ROLLED
    for (int first = 0; first < n_; first += width) {
      T a[panel_elements];
      if constexpr (Symmetric && has_products) {
        first == 0 ? load(first, a) : subtract_symmetric(first, a);
      } else {
        load(first, a);
        if (first > 0) Symmetric ? eliminate_symmetric(first, a) : eliminate(first, a);
      }
      if constexpr (Symmetric) {
        wait();
        if constexpr (uses_tensor_cores) {
          eliminate_symmetric_groups<width>(first, a);
        } else {
          eliminate_symmetric_steps<width>(first, a, info);
        }
      } else {
        factor_panel(first, a);
      }
    }
    // eliminate_symmetric_steps gives all threads the same info; all other steps store it in shared memory.
    if (Symmetric && !uses_tensor_cores) return info;
    wait();
    return shared_.info;
  }

  /// Solves for the right-hand side that factor() eliminated with A, by back substitution, and stores `x`.
  __device__ void solve_rhs(T* x) {
    // The steps eliminated y_ with the unit L of A = L D L^T, but A now contains L D^(1/2).
    if (Symmetric && row() < n_) y_[0] /= *address_of(row(), row());
    GAUSSWEEP_ROLLED
    for (int first = (n_ - 1) / width * width; first >= 0; first -= width) {
      wait();  // no thread uses `triangles` any more, and all threads have stored their elements
      T a[panel_elements];
      for_rows([&](int e) {
        T* const row_elements = a + e * width;
        // The block of U has the pivot rows of the panel's steps; rows before it subtract these unknowns.
        const bool is_needed = row(e) < n_ && position_[e] < first + width;
        GAUSSWEEP_UNROLL
        for (int c = 0; c < width; ++c)
          row_elements[c] =
              is_needed && first + c < n_ && position_[e] <= first + c ? element_of_u(e, first + c) : T(0);
        const int local_step = position_[e] - first;  // the row's step in this panel
        if (local_step < 0 || local_step >= width) return;
        T diagonal = 1;
        GAUSSWEEP_UNROLL
        for (int c = 0; c < width; ++c) {
          shared_.triangles[local_step * Split::block_pitch + c] = row_elements[c];
          diagonal = c == local_step && row(e) < n_ ? row_elements[c] : diagonal;
        }
        // solve_block reads the diagonal element from column `width`, and 0 from the diagonal.
        shared_.triangles[local_step * Split::block_pitch + local_step] = 0;
        shared_.triangles[local_step * Split::block_pitch + width] = diagonal;
        shared_.unknowns[local_step] = y_[e];
      });
      wait();
      if (threadIdx.x < 32) {
        const int local_step = lane() % width;
        const T solved = solve_block<width>(shared_.triangles + local_step * Split::block_pitch,
                                            shared_.unknowns[local_step]);
        __syncwarp();
        if (lane() < width) shared_.unknowns[local_step] = solved;
      }
      wait();
      for_rows([&](int e) {
        const int local_step = position_[e] - first;
        if (row(e) >= n_) return;
        if (local_step >= 0 && local_step < width) x[position_[e]] = shared_.unknowns[local_step];
        if (local_step >= 0) return;
        T sums[4] = {};  // four independent sums shorten the dependency chain
        GAUSSWEEP_UNROLL
        for (int c = 0; c < width; ++c)
          sums[c % 4] = std::fma(-a[e * width + c], shared_.unknowns[c], sums[c % 4]);
        y_[e] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
      });
    }
  }

  /// Moves the rows of L and U to their positions in LAPACK's order, one panel's columns at a time. All
  /// threads have loaded their rows of these columns before one of them stores.
  __device__ void exchange() {
    GAUSSWEEP_ROLLED
    for (int first = 0; first < n_; first += width) {
      T a[panel_elements];
      load(first, a);
      wait();
      for_elements(
          first,
          [&](int e, int c, bool inside, T& element) {
            if (inside) *address_of(position_[e], c) = element;
          },
          a);
    }
  }
  /// Stores LAPACK's pivots, counted from 0.
  __device__ void store_pivots(int* pivots) const {
    for_rows([&](int e) {
      if (row(e) < n_) pivots[row(e)] = shared_.pivots[row(e)];
    });
  }
  /// Stores the index of the pivot row of each step.
  __device__ void store_order(int* pivot_rows) const {
    for_rows([&](int e) {
      if (row(e) < n_) pivot_rows[position_[e]] = row(e);
    });
  }

 private:
  static constexpr bool uses_tensor_cores = sizeof(T) == 8;
  /// True if Cholesky updates a panel by a product. In float up to order 128, elimination by rows is faster.
  static constexpr bool has_products = uses_tensor_cores || Split::rows > 128;
  static constexpr int RowsPerThread = Split::RowsPerThread, width = Split::width, no_row = 0x7fffffff;
  static_assert(RowsPerThread == 1 || (uses_tensor_cores && !Symmetric),
                "two rows per thread are for LU in double");
  using Base::index_of, Base::shared_, Base::load_multipliers, Base::subtract_pivot_rows, Base::first_of_four,
      Base::for_elements, Base::for_rows, Base::is_stored, Base::load, Base::n_, Base::address_of, Base::row,
      Base::triangle_of, Base::position_, Base::system_, Base::element_of_u, Base::wait, Base::warp, Base::y_;

  /// Applies the elimination steps [0, steps) to the thread's rows of a panel.
  __device__ void eliminate(int steps, T (&a)[panel_elements]) {
    if constexpr (uses_tensor_cores) return eliminate_groups(steps, a);
    T next[group_steps];
    load_multipliers(/*k=*/0, steps, next);
    wait();
    GAUSSWEEP_ROLLED
    for (int k = 0; k < steps; k += group_steps) {
      const int buffer = k / group_steps % 2;
      T factors[group_steps];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < group_steps; ++c) factors[c] = next[c];
      const int local_step = position_[0] - k;  // padding rows are 0 and have steps beyond n
      if (local_step >= 0 && local_step < group_steps) {
        GAUSSWEEP_UNROLL
        for (int j = 0; j < width; ++j) shared_.rows[buffer][local_step][j] = a[j];
        GAUSSWEEP_UNROLL
        for (int c = 0; c < group_steps; ++c) shared_.multipliers[buffer][local_step][c] = factors[c];
      }
      load_multipliers(k + group_steps, steps, next);
      wait();
      if (position_[0] <= k) continue;
      // Multiplies the factors by the inverse of the group's unit triangle.
      GAUSSWEEP_UNROLL
      for (int c = group_steps - 2; c >= 0; --c) {
        GAUSSWEEP_UNROLL
        for (int later = c + 1; later < group_steps; ++later)
          factors[c] = std::fma(-factors[later], shared_.multipliers[buffer][later][c], factors[c]);
      }
      subtract_pivot_rows(buffer, factors, a);
    }
  }
  /// Applies the earlier panels to the panel of a symmetric matrix that begins at column `first`. Adds up the
  /// products before subtracting them, which is more accurate.
  __device__ void subtract_symmetric(int first, T (&a)[panel_elements]) {
    wait();  // until other threads have stored the panel's rows
    GAUSSWEEP_UNROLL
    for (int c = 0; c < width; ++c) a[c] = 0;
    if constexpr (uses_tensor_cores) {
      if (row() / 32 * 32 < first) return;
      add_on_tensor_cores(first, a);
    } else {
      system_.uplo == Uplo::upper ? add_products</*RowMajor=*/true>(first, a)
                                  : add_products</*RowMajor=*/false>(first, a);
    }
    panels::transpose_quads<1>(a);
    GAUSSWEEP_UNROLL
    for (int c = 0; c < width; ++c)
      a[c] = is_stored(0, first + c) ? *address_of(row(), first + c) - a[c] : T(0);
  }
  /// Adds the products of four rows of L with the panel's rows of L^T to `a`, which has the layout that
  /// transpose_quads produces. The k index runs over the columns before `first`.
  __device__ __forceinline__ void add_on_tensor_cores(int first, T (&a)[panel_elements]) const {
    const FragmentLoader loader(system_.a, n_, /*row_limit=*/n_, /*column_limit=*/first,
                                /*is_row_major=*/system_.uplo == Uplo::upper);
    const int right_row = first + lane() / 4 * 4;
    Left<1> left, right;
    loader.load(first_of_four(), 0, left[0]);
    loader.load(right_row, 0, right[0]);
    GAUSSWEEP_ROLLED
    for (int k = 0; k < first; k += tile_order) {
      Left<1> current_left, current_right;
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 8; ++e) {
        current_left[0][e / 4][e % 4] = left[0][e / 4][e % 4];
        current_right[0][e / 4][e % 4] = right[0][e / 4][e % 4];
      }
      loader.load(first_of_four(), k + tile_order, left[0]);
      loader.load(right_row, k + tile_order, right[0]);
      multiply<1>(a, current_left, [&](int h, int j, double& b0, double& b1) {
        b0 = current_right[0][h][j];
        b1 = current_right[0][h][j + 1];
      });
    }
  }
  /// Does the same as add_on_tensor_cores in float. A thread multiplies its four rows by eight of the panel's
  /// 32 rows. All threads together load the panel's rows into shared memory, 32 columns at a time. Each
  /// thread prefetches its four rows `ahead` columns early.
  /// @tparam RowMajor true if the upper triangle is stored: the rows of L are then contiguous
  template <bool RowMajor>
  __device__ __forceinline__ void add_products(int first, T (&a)[panel_elements]) const {
    // If only one block fits on a multiprocessor, few warps hide load latencies. Loads then start earlier.
    constexpr int ahead = Split::blocks > 1 ? group_steps : tile_order;
    const bool has_rows = row() / 32 * 32 + 32 > first;  // equal for all threads of a warp
    const int left_row = first_of_four(), right_row = lane() % 4 * 8;
    // In column-major storage, a row beyond n reads an element of the next column; its result is not used.
    const auto element = [&](int i, int k) -> const T& {
      return system_.a[RowMajor ? k + min(i, n_ - 1) * n_ : index_of(i, k)];
    };
    const bool loads_rows = RowMajor && n_ % 4 == 0 && reinterpret_cast<std::uintptr_t>(system_.a) % 16 == 0;
    T left[ahead][4];
    const auto load_left = [&](int k) {
      if (loads_rows) {
        GAUSSWEEP_UNROLL
        for (int i = 0; i < 4; ++i) {
          T row_elements[ahead];
          lu::load_adjacent(&element(left_row + i, k), row_elements);
          GAUSSWEEP_UNROLL
          for (int s = 0; s < ahead; ++s) left[s][i] = row_elements[s];
        }
        return;
      }
      GAUSSWEEP_UNROLL
      for (int s = 0; s < ahead; ++s) {
        GAUSSWEEP_UNROLL
        for (int i = 0; i < 4; ++i) left[s][i] = element(left_row + i, k + s);
      }
    };
    if (has_rows) load_left(0);
    GAUSSWEEP_ROLLED
    for (int k = 0; k < first; k += width) {
      T* const tile = shared_.triangles + k / width % 2 * width * Split::pitch;
      GAUSSWEEP_ROLLED
      for (int e = static_cast<int>(threadIdx.x); e < width * width; e += static_cast<int>(blockDim.x)) {
        const int i = RowMajor ? e / width : e % width, c = RowMajor ? e % width : e / width;
        tile[c * Split::pitch + i] = element(first + i, k + c);
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
          T right[tile_order];
          GAUSSWEEP_UNROLL
          for (int j = 0; j < tile_order; j += 2)
            lu::load_two(tile + (c + s) * Split::pitch + right_row + j, right[j], right[j + 1]);
          GAUSSWEEP_UNROLL
          for (int i = 0; i < 4; ++i) {
            GAUSSWEEP_UNROLL
            for (int j = 0; j < tile_order; ++j)
              a[tile_order * i + j] = std::fma(rows[s][i], right[j], a[tile_order * i + j]);
          }
        }
      }
    }
  }

  /// Applies the earlier steps to the panel of a symmetric matrix that begins at column `first`, in float up
  /// to order 128. The rows in shared memory are rows of L^T.
  __device__ void eliminate_symmetric(int first, T (&a)[panel_elements]) {
    T next[group_steps];
    load_multipliers(/*k=*/0, first, next);
    wait();
    GAUSSWEEP_ROLLED
    for (int k = 0; k < first; k += group_steps) {
      const int buffer = k / group_steps % 2;
      T factors[group_steps];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < group_steps; ++c) factors[c] = next[c];
      if (row() >= first && row() < first + width) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < group_steps; ++c) shared_.rows[buffer][c][row() - first] = factors[c];
      }
      load_multipliers(k + group_steps, first, next);
      wait();
      if (row() >= first) subtract_pivot_rows(buffer, factors, a);
    }
  }

  /// Factors the panel that begins at column `first` and stores it column by column. In double, also stores
  /// the panel's 8 x 8 diagonal triangles of L in shared memory.
  __device__ void factor_panel(int first, T (&a)[panel_elements]) {
    eliminate_steps<width>(first, a);
    if constexpr (uses_tensor_cores) {
      for_rows([&](int e) {
        const int local_step = position_[e] - first, k = position_[e] / tile_order * tile_order;
        if (local_step < 0 || local_step >= width) return;
        GAUSSWEEP_UNROLL
        for (int c = 0; c < tile_order; ++c)
          triangle_of(position_[e])[square_index(local_step % tile_order, c)] =
              row(e) < n_ && k + c < n_ ? *address_of(row(e), k + c) : T(0);
      });
    }
  }
  /// Runs the elimination steps of the panel's last Count columns; one loop runs eight steps, and a recursive
  /// call runs the rest. Every step shifts the columns left by one register, so that one loop body serves
  /// eight steps. With all steps of a panel unrolled, the code would not fit in the instruction caches.
  template <int Count>
  __device__ void eliminate_steps(int first, T (&a)[panel_elements]) {
    const int begin = first + width - Count, end = min(begin + tile_order, n_);
    T* column = address_of(row(), begin);
    GAUSSWEEP_ROLLED
    for (int k = begin; k < end; ++k, column += n_) {
      const int buffer = k % 2;
      bool eligible[RowsPerThread], any = false;
      T largest = a[0];
      int pivot_slot = 0;  // the index of the thread's candidate among its rows
      for_rows([&](int e) {
        eligible[e] = position_[e] >= k && row(e) < n_;
        if (e > 0 && eligible[e] && (!any || is_larger(a[e * width], largest))) {
          largest = a[e * width];
          pivot_slot = e;
        }
        any = any || eligible[e];
      });
      const int own_lane = lane_of_largest(any, largest);  // the lane of the warp's candidate, or -1
      if (lane() == own_lane) {
        for_rows([&](int e) {
          if (pivot_slot != e) return;
          GAUSSWEEP_UNROLL
          for (int j = 0; j < Count; ++j) shared_.candidate[buffer][warp()][j] = a[e * width + j];
          shared_.position[buffer][warp()] = position_[e];
          if (WithRhs) shared_.rhs[buffer][warp()] = y_[e];
        });
      } else if (Split::warps > 1 && own_lane < 0 && lane() == 0) {
        shared_.position[buffer][warp()] = no_row;
      }
      wait();
      int pivot_warp = 0;
      if (Split::warps > 1) {
        const int warps = static_cast<int>(blockDim.x) / 32, candidate_lane = lane() < warps ? lane() : 0;
        pivot_warp = lane_of_largest(lane() < warps && shared_.position[buffer][candidate_lane] != no_row,
                                     shared_.candidate[buffer][candidate_lane][0]);
      }
      const T* const pivot_row = shared_.candidate[buffer][pivot_warp];
      const T pivot = pivot_row[0], inverse = T(1) / pivot;
      const int position = shared_.position[buffer][pivot_warp];  // of the pivot row before this step
      const bool owns_pivot = warp() == pivot_warp && lane() == own_lane, divides = inverse - inverse != T(0);
      if (owns_pivot) {
        shared_.pivots[k] = position;
        if (pivot == T(0) && shared_.info == 0) shared_.info = k + 1;
      }
      T factors[RowsPerThread];
      for_rows([&](int e) {
        // Multiplies by the pivot's inverse; the remainder corrects the quotient. If the pivot is 0, the
        // whole column is 0.
        const T leading = a[e * width], estimate = leading * inverse;
        T factor = std::fma(std::fma(-estimate, pivot, leading), inverse, estimate);
        // `divides`: the inverse is infinite or NaN.
        if (divides) factor = pivot == T(0) ? T(0) : leading / pivot;
        const bool is_pivot = owns_pivot && pivot_slot == e, is_eliminated = eligible[e] && !is_pivot;
        factors[e] = is_eliminated ? factor : T(0);
        if (row(e) < n_) column[32 * e] = is_eliminated ? factor : leading;
        // LAPACK would exchange the row at position k with the pivot row.
        position_[e] = is_pivot ? k : position_[e] == k ? position : position_[e];
      });
      // The factors of rows that do not change are 0.
      subtract_and_move<Count, RowsPerThread>(factors, pivot_row, a);
      if (WithRhs) {
        const T pivot_rhs = shared_.rhs[buffer][pivot_warp];
        for_rows([&](int e) { y_[e] = std::fma(-factors[e], pivot_rhs, y_[e]); });
      }
    }
    if constexpr (Count > tile_order) eliminate_steps<Count - tile_order>(first, a);
  }
  /// Like eliminate_steps, for a symmetric matrix: every step computes and stores one column of the factor.
  template <int Count>
  __device__ void eliminate_symmetric_steps(int first, T (&a)[panel_elements], int& info) {
    const int begin = first + width - Count, end = min(begin + tile_order, n_);
    GAUSSWEEP_ROLLED
    for (int k = begin; k < end; ++k) {
      T* const column = shared_.rows[0][k % 2];  // elements of column k from the diagonal on
      if (row() >= k && row() < first + width) column[row() - k] = a[0];
      if (WithRhs && row() == k) shared_.rhs[k % 2][0] = y_[0];
      wait();
      const T pivot = column[0];
      if (!(pivot > T(0)) && info == 0) info = k + 1;
      if (row() / 32 * 32 + 31 < k) continue;  // all rows of the warp are finished
      const T factor[1] = {a[0] / pivot};      // unused for rows before k
      if (row() >= k && row() < n_) *address_of(row(), k) = a[0] / std::sqrt(pivot);
      subtract_and_move<Count, 1>(factor, column, a);
      if (WithRhs && row() > k) y_[0] = std::fma(-factor[0], shared_.rhs[k % 2][0], y_[0]);
    }
    if constexpr (Count > tile_order) eliminate_symmetric_steps<Count - tile_order>(first, a, info);
  }

  /// Factors the last Count columns of a panel of a symmetric matrix, in double, in groups of eight steps.
  /// One warp owns the rows of the panel's diagonal block. While this warp eliminates one group, the warps
  /// below apply the previous group (a pipeline). All warps wait for each other only once per group. After
  /// the last group, the warps below have one more group to apply.
  template <int Count>
  __device__ void eliminate_symmetric_groups(int first, T (&a)[panel_elements]) {
    if (row() / 32 * 32 == first) eliminate_diagonal_group<Count>(first, a);
    if constexpr (Count < width) {
      if (row() / 32 * 32 > first) apply_group<Count + tile_order>(first, a);
    }
    wait();
    if constexpr (Count > tile_order) {
      eliminate_symmetric_groups<Count - tile_order>(first, a);
    } else if (row() / 32 * 32 > first) {
      apply_group<Count>(first, a);
    }
  }
  /// The columns of a group of eight steps and the factors that scale them, in shared memory.
  struct StepGroup {
    T(*columns)
    [Split::pitch];    ///< columns[s]: the elements of the pivot column of step s, from the diagonal on
    T* inverses;       ///< reciprocals of the pivots; 0 for a pivot without has_reciprocal()
    T* inverse_roots;  ///< reciprocals of the pivots' square roots
  };
  /// Returns the memory of the group that begins at step `begin`.
  __device__ StepGroup group_at(int begin) {
    const int buffer = begin / tile_order % 2;
    T* const factors = &shared_.multipliers[buffer][0][0];
    return {shared_.rows[buffer], factors, factors + tile_order};
  }
  /// Eliminates columns [width - Count, width - Count + 8) of the panel, in the warp of the diagonal block.
  template <int Count>
  __device__ __forceinline__ void eliminate_diagonal_group(int first, T (&a)[panel_elements]) {
    const int begin = first + width - Count, end = min(begin + tile_order, n_);
    const StepGroup group = group_at(begin);
    int info = 0;
    T pivot = __shfl_sync(0xffffffffu, a[0], begin - first), inverse = reciprocal(pivot);
    GAUSSWEEP_ROLLED
    for (int k = begin; k < end; ++k) {
      T* const column = group.columns[k - begin];
      if (row() >= k) column[row() - k] = a[0];
      T factor[1] = {a[0] * inverse};  // unused for rows before k
      if (!has_reciprocal(pivot)) {
        if (!(pivot > T(0)) && info == 0) info = k + 1;
        factor[0] = a[0] / pivot;
      }
      if (WithRhs) {
        const T y = __shfl_sync(0xffffffffu, y_[0], k - first);
        if (row() == k) shared_.unknowns[k - first] = y;
        if (row() > k) y_[0] = std::fma(-factor[0], y, y_[0]);
      }
      __syncwarp();
      subtract_and_move<Count, 1>(factor, column, a);
      // Computes the next step's reciprocal here, so that its latency overlaps this step's products.
      pivot = __shfl_sync(0xffffffffu, a[0], (k + 1) % 32);
      inverse = reciprocal(pivot);
    }
    if (lane() == 0 && info > 0 && shared_.info == 0) shared_.info = info;
    T root = 0;
    if (row() >= begin && row() < end) {
      const T own_pivot = group.columns[row() - begin][0];
      root = std::sqrt(own_pivot);
      group.inverses[row() - begin] = has_reciprocal(own_pivot) ? reciprocal(own_pivot) : 0;
      group.inverse_roots[row() - begin] = T(1) / root;
    }
    __syncwarp();
    T* element = address_of(row(), begin);
    GAUSSWEEP_UNROLL
    for (int s = 0; s < tile_order; ++s, element += column_stride()) {
      const int below = row() - begin - s;
      const T scaled = group.columns[s][max(below, 0)] * group.inverse_roots[s];
      if (below >= 0 && row() < n_) *element = below == 0 ? root : scaled;
    }
  }
  /// Returns the distance of a row's elements in adjacent columns of the factor.
  __device__ __forceinline__ int column_stride() const { return system_.uplo == Uplo::upper ? 1 : n_; }
  /// Applies steps [width - Count, width - Count + 8) to the thread's row, which is below the diagonal block.
  template <int Count>
  __device__ __forceinline__ void apply_group(int first, T (&a)[panel_elements]) {
    const int begin = first + width - Count;  // the group has eight columns, because rows exist below it
    const StepGroup group = group_at(begin);
    T* element = address_of(row(), begin);
    GAUSSWEEP_ROLLED
    for (int s = 0; s < tile_order; ++s, element += column_stride()) {
      const T inverse = group.inverses[s];
      const T factor[1] = {inverse != T(0) ? a[0] * inverse : a[0] / group.columns[s][0]};
      if (row() < n_) *element = a[0] * group.inverse_roots[s];
      subtract_and_move<Count, 1>(factor, group.columns[s], a);
      if (WithRhs) y_[0] = std::fma(-factor[0], shared_.unknowns[begin + s - first], y_[0]);
    }
  }

  /// Applies the first `steps` elimination steps to `a`, for LU in double on tensor cores, eight steps per
  /// iteration. Solves with the 8 x 8 diagonal triangles of L are by substitution: inverses of these
  /// triangles may be large, and products with inverses would have different errors in different rows.
  __device__ void eliminate_groups(int steps, T (&a)[panel_elements]) {
    constexpr int quarter = width / 4;
    const FragmentLoader loader(system_.a, n_, /*row_limit=*/n_, /*column_limit=*/steps,
                                /*is_row_major=*/false);
    const int t = lane() % 4;
    int step_of[RowsPerThread][4];  // the steps of the four rows of which the thread has a quarter
    Left<RowsPerThread> left;
    for_rows([&](int e) {
      GAUSSWEEP_UNROLL
      for (int i = 0; i < 4; ++i) step_of[e][i] = __shfl_sync(0xffffffffu, position_[e], lane() / 4 * 4 + i);
    });
    panels::transpose_quads<RowsPerThread>(a);
    wait();
    GAUSSWEEP_ROLLED
    for (int k = 0; k < steps; k += tile_order) {
      T(*const shared)[Split::pitch] = shared_.rows[k / tile_order % 2];
      // Loads multipliers. Negates them in later rows, sets them to an identity in the group's pivot rows,
      // and to 0 in finished rows, which do not change.
      for_rows([&](int e) { loader.load(first_of_four(e), k, left[e]); });
      for_rows([&](int e) {
        GAUSSWEEP_UNROLL
        for (int i = 0; i < 4; ++i) {
          const int local_step = step_of[e][i] - k;
          GAUSSWEEP_UNROLL
          for (int h = 0; h < 2; ++h) {
            const int offset = local_step - 2 * t - h;
            double& element = left[e][h][i];
            element = local_step >= tile_order ? -element : offset == 0 ? 1.0 : 0.0;
          }
          if (local_step < 0 || local_step >= tile_order) continue;
          // Pivot rows move to shared memory. `left` has identity rows for them, so that the product below
          // restores them after substitute_square has updated them.
          GAUSSWEEP_UNROLL
          for (int s = 0; s < quarter; ++s) {
            T& element = a[quarter * (4 * e + i) + s];
            shared[local_step][quarter * t + s] = element;
            element = 0;
          }
        }
      });
      wait();
      if (threadIdx.x < width) substitute_square(triangle_of(k), shared);
      wait();
      // The columns Jg + j and Jg + j + 1 of the pivot rows, with J = quarter / 2 and g = lane() / 4.
      multiply<RowsPerThread>(a, left, [&](int h, int j, double& first, double& second) {
        lu::load_two(&shared[2 * t + h][lane() / 4 * quarter / 2 + j], first, second);
      });
    }
    panels::transpose_quads<RowsPerThread>(a);
  }
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::panels
