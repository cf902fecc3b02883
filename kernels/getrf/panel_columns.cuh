#pragma once
/// Factors the columns of a panel of an LU factorisation one by one, in the registers of a cluster
/// (cluster_panel.cuh).
///
/// Registers can only be indexed by constants, so the current column must always be in the same register. The
/// columns are factored in slices of at most 8 columns. Within a slice each elimination step shifts a row's
/// elements left by one register, and the finished element enters at the slice's right end. After all steps
/// of the slice, every element is back in its register. Then the columns right of the slice are updated:
/// first by substitution in the pivot rows, then by a product. At the end the row is rotated left by one
/// slice. One loop body therefore serves all columns, which keeps the code small enough for the instruction
/// cache.

#include <cmath>
#include <cstdint>

#include "kernels/getrf/panel_exchange.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail {

#if GAUSSWEEP_CLUSTERS

/// Rotates the first `Active` elements of each row left by `Step` columns.
template <int Active, int Step, int Columns, int RowsPerThread, class T>
__device__ __forceinline__ void rotate(T (&v)[RowsPerThread][Columns]) {
  if constexpr (Step < Active) {
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) {
      T head[Step];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Step; ++c) head[c] = v[s][c];
      GAUSSWEEP_UNROLL
      for (int c = Step; c < Active; ++c) v[s][c - Step] = v[s][c];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Step; ++c) v[s][Active - Step + c] = head[c];
    }
  }
}

/// Returns the warp's candidate for the pivot of column j, among its rows that are not pivots yet. The column
/// is in the first register of each row of `v`.
template <int Columns, int RowsPerThread, class T>
__device__ __forceinline__ WarpCandidate<T> warp_candidate(const T (&v)[RowsPerThread][Columns],
                                                           const int (&position)[RowsPerThread], int j) {
  WarpCandidate<T> warp_best;
  warp_best.of_lane = no_candidate;
  GAUSSWEEP_UNROLL
  for (int s = 0; s < RowsPerThread; ++s) {
    Candidate c = candidate(v[s][0], position[s]);
    // Rows that are not eligible get the magnitude 0 of no_candidate.
    const unsigned eligible_mask = (position[s] >= j) & (position[s] != no_row) ? ~0u : 0u;
    c.high &= eligible_mask;
    c.low &= eligible_mask;
    if (s == 0 || is_better(c, warp_best.of_lane)) warp_best.of_lane = c;
  }
  warp_best.argmax = warp_argmax(warp_best.of_lane.high);
  warp_best.minus_inverse = reciprocal<-1>(value_of(warp_best.of_lane, T()));
  return warp_best;
}

/// Factors the first `count` columns of slice `slice_index`. Rows exchange their `position`s, not their
/// elements.
/// @param warp_best the warp's candidate for the first column, which was already sent
/// @param has_next true if columns follow right of the slice
/// @param first_zero set to the first column whose pivot is 0
/// @param my_pivot set to the position of the pivot of column `lane` of the panel, if this column is in the
/// slice
template <class CandidateExchange, int Columns, int RowsPerThread, class T>
__device__ __forceinline__ void factor_slice(T (&v)[RowsPerThread][Columns], int (&position)[RowsPerThread],
                                             unsigned slice_index, int count, bool has_next,
                                             const CandidateExchange& exchange, WarpCandidate<T>& warp_best,
                                             int& first_zero, int& my_pivot) {
  constexpr int slice = CandidateExchange::slice;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  GAUSSWEEP_ROLLED
  for (int i = 0; i < count; ++i) {
    const int j = static_cast<int>(slice_index) * slice + i;
    typename CandidateExchange::SliceMessage best;
    const bool unambiguous = exchange.await(slice_index, static_cast<unsigned>(i), best);
    // `factor`: the negated multipliers; 0 in rows that do not change. `entering`: the finished elements,
    // which enter at the slice's right end.
    T factor[RowsPerThread], entering[RowsPerThread];
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) factor[s] = v[s][0] * best.row[0];  // row[0] = -1 / pivot
    if (!unambiguous || !has_reciprocal(best.candidate, T())) {
      exchange.resolve(static_cast<unsigned>(i), best);
      const bool zero = is_zero(best.candidate);
      if (zero && first_zero == no_row) first_zero = j;
      const T divisor = zero ? T(1) : value_of(best.candidate, T());
      const bool divides = !has_reciprocal(best.candidate, T());
      GAUSSWEEP_UNROLL
      for (int s = 0; s < RowsPerThread; ++s) {
        factor[s] = divides ? -v[s][0] / divisor : v[s][0] * best.row[0];
      }
    }
    const int pivot = best.candidate.position;  // LAPACK exchanges the rows at positions j and `pivot`
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) {
      const bool below = position[s] >= j && position[s] != pivot;
      entering[s] = below ? -factor[s] : v[s][0];
      if (!below) factor[s] = T(0);
      if (position[s] == pivot) {
        position[s] = j;
      } else if (position[s] == j) {
        position[s] = pivot;
      }
    }

    // Updates each row and shifts it by one column. The compiler interleaves these independent updates with
    // the dependent instructions that compute the next candidate.
    GAUSSWEEP_UNROLL
    for (int c = 1; c < slice; ++c) {
      GAUSSWEEP_UNROLL
      for (int s = 0; s < RowsPerThread; ++s) v[s][c - 1] = std::fma(factor[s], best.row[c], v[s][c]);
    }
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) v[s][slice - 1] = entering[s];
    warp_best = warp_candidate(v, position, j + 1);
    if (i + 1 < count) exchange.send(static_cast<unsigned>(i) + 1, v, position, warp_best);
    if (lane == j) my_pivot = pivot;
    if (has_next) exchange.send_pivot_row(slice_index, static_cast<unsigned>(i), v, position);
  }
}

/// Subtracts the product of L and U of slice `slice_index` - 1 from the columns right of slice `slice_index`.
/// Calls itself for one slice after another; `SliceDistance` is the slice's distance from slice
/// `slice_index`. `remaining`: the number of the panel's columns from slice `slice_index` on.
template <int SliceDistance, class CandidateExchange, int Columns, int RowsPerThread, class T>
__device__ __forceinline__ void subtract_products(T (&v)[RowsPerThread][Columns], unsigned slice_index,
                                                  int remaining, const CandidateExchange& exchange) {
  constexpr int slice = CandidateExchange::slice;
  if constexpr (SliceDistance + 1 < Columns / slice) {
    if (SliceDistance * slice >= remaining) return;
    exchange.template subtract_product<SliceDistance>(slice_index - 1, v);
    subtract_products<SliceDistance + 1>(v, slice_index, remaining, exchange);
  }
}

/// Factors a panel of `cols` columns, slice by slice. The parameters are those of factor_slice.
template <class CandidateExchange, int Columns, int RowsPerThread, class T>
__device__ __forceinline__ void factor_columns(T (&v)[RowsPerThread][Columns], int (&position)[RowsPerThread],
                                               int cols, const CandidateExchange& exchange, int& first_zero,
                                               int& my_pivot) {
  constexpr int slice = CandidateExchange::slice;
  GAUSSWEEP_ROLLED
  for (unsigned slice_index = 0; slice_index < Columns / slice; ++slice_index) {
    const int begin = static_cast<int>(slice_index) * slice;
    const int remaining = cols - begin;
    if (remaining > 0) {
      if constexpr (slice < Columns) {
        if (slice_index > 0) exchange.template subtract_product<0>(slice_index - 1, v);
      }
      WarpCandidate<T> warp_best = warp_candidate(v, position, begin);
      exchange.send(0, v, position, warp_best);
      // Updates these columns after sending the candidate, so that no block waits for the update.
      if (slice_index > 0) subtract_products<1>(v, slice_index, remaining, exchange);
      const int count = min(remaining, slice);
      factor_slice(v, position, slice_index, count, remaining > slice, exchange, warp_best, first_zero,
                   my_pivot);
      // If the panel's last slice has fewer columns, completes the rotation of the slice.
      GAUSSWEEP_ROLLED
      for (int i = count; i < slice; ++i) rotate<slice, 1>(v);
      if constexpr (slice < Columns) {
        if (remaining > slice) {
          exchange.store_lower(slice_index, v, position);
          exchange.solve(slice_index, cols);
        }
      }
    }
    rotate<Columns, slice>(v);
  }
}

#endif

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail
