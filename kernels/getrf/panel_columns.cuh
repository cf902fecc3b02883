#pragma once
/// The columns of a panel of an LU factorisation, one after the other, in the registers of a cluster:
/// cluster_panel.cuh.
///
/// Registers are indexed by constants only. Within a slice of a few columns each step shifts the row's
/// elements by one column; the finished one enters at the other end. After as many steps as there are columns
/// every element is back at its place. The columns right of the slice take part when it ends, by substitution
/// in the pivots' rows and a product. Then slices move on as columns do. So there is one loop's body for all
/// columns, and little code: what is not in the instruction cache is waited for.

#include <cmath>
#include <cstdint>

#include "kernels/getrf/panel_exchange.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail {

#if GAUSSWEEP_CLUSTERS

/// The first `Active` elements of each row, moved on by `Step` columns.
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

/// The warp's candidate for the pivot of column j, the first of `v`, among its rows that are no pivots yet.
template <int Columns, int RowsPerThread, class T>
__device__ __forceinline__ WarpCandidate<T> warp_candidate(const T (&v)[RowsPerThread][Columns],
                                                           const int (&position)[RowsPerThread], int j) {
  WarpCandidate<T> of_warp;
  of_warp.mine = no_candidate;
  GAUSSWEEP_UNROLL
  for (int s = 0; s < RowsPerThread; ++s) {
    Candidate c = candidate(v[s][0], position[s]);
    const unsigned is_one = (position[s] >= j) & (position[s] != nobody) ? ~0u : 0u;
    c.high &= is_one;
    c.low &= is_one;
    if (s == 0 || is_better(c, of_warp.mine)) of_warp.mine = c;
  }
  of_warp.choice = choose(of_warp.mine.high);
  of_warp.minus_inverse = reciprocal<-1>(value_of(of_warp.mine, T()));
  return of_warp;
}

/// Factors the first `count` columns of slice `part`. A thread has rows of `position`; they exchange these,
/// not their elements. `of_warp`: the candidate for its first column, which was sent. `goes_on`: whether
/// there are columns right of it. `first_zero`: becomes the first column without a pivot; `my_pivot`: the
/// pivot of the column that is the lane's number.
template <class Exchange, int Columns, int RowsPerThread, class T>
__device__ __forceinline__ void factor_slice(T (&v)[RowsPerThread][Columns], int (&position)[RowsPerThread],
                                             unsigned part, int count, bool goes_on, const Exchange& exchange,
                                             WarpCandidate<T>& of_warp, int& first_zero, int& my_pivot) {
  constexpr int slice = Exchange::slice;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  GAUSSWEEP_ROLLED
  for (int i = 0; i < count; ++i) {
    const int j = static_cast<int>(part) * slice + i;
    typename Exchange::Told best;
    const bool settled = exchange.await(part, static_cast<unsigned>(i), best);
    T factor[RowsPerThread], entering[RowsPerThread];  // the factors with their signs changed
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) factor[s] = v[s][0] * best.row[0];
    if (!settled || !has_reciprocal(best.candidate, T())) {
      exchange.settle(static_cast<unsigned>(i), best);
      const bool zero = is_zero(best.candidate);
      if (zero && first_zero == nobody) first_zero = j;
      const T divisor = zero ? T(1) : value_of(best.candidate, T());
      const bool divides = !has_reciprocal(best.candidate, T());
      GAUSSWEEP_UNROLL
      for (int s = 0; s < RowsPerThread; ++s) {
        factor[s] = divides ? -v[s][0] / divisor : v[s][0] * best.row[0];
      }
    }
    const int pivot = best.candidate.position;
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

    // Each row, less its factor times the pivot's, moved on by one column. The warp's candidate for the next
    // column is found between these: its steps wait for each other, the others for nothing.
    GAUSSWEEP_UNROLL
    for (int c = 1; c < slice; ++c) {
      GAUSSWEEP_UNROLL
      for (int s = 0; s < RowsPerThread; ++s) v[s][c - 1] = std::fma(factor[s], best.row[c], v[s][c]);
    }
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) v[s][slice - 1] = entering[s];
    of_warp = warp_candidate(v, position, j + 1);
    if (i + 1 < count) exchange.send(static_cast<unsigned>(i) + 1, v, position, of_warp);
    if (lane == j) my_pivot = pivot;
    if (goes_on) exchange.hand_row(part, static_cast<unsigned>(i), v, position);
  }
}

/// The product that slice `part` - 1 leaves to do in the columns right of slice `part`, as many as there are.
template <int Group, class Exchange, int Columns, int RowsPerThread, class T>
__device__ __forceinline__ void subtract_products(T (&v)[RowsPerThread][Columns], unsigned part, int left,
                                                  const Exchange& exchange) {
  constexpr int slice = Exchange::slice;
  if constexpr (Group + 1 < Columns / slice) {
    if (Group * slice >= left) return;
    exchange.template subtract_product<Group>(part - 1, v);
    subtract_products<Group + 1>(v, part, left, exchange);
  }
}

/// Factors a panel of `cols` columns. Arguments as factor_slice has them.
template <class Exchange, int Columns, int RowsPerThread, class T>
__device__ __forceinline__ void factor_columns(T (&v)[RowsPerThread][Columns], int (&position)[RowsPerThread],
                                               int cols, const Exchange& exchange, int& first_zero,
                                               int& my_pivot) {
  constexpr int slice = Exchange::slice;
  GAUSSWEEP_ROLLED
  for (unsigned part = 0; part < Columns / slice; ++part) {
    const int begin = static_cast<int>(part) * slice;
    const int left = cols - begin;
    if (left > 0) {
      if constexpr (slice < Columns) {
        if (part > 0) exchange.template subtract_product<0>(part - 1, v);
      }
      WarpCandidate<T> of_warp = warp_candidate(v, position, begin);
      exchange.send(0, v, position, of_warp);
      // Who waits for the candidate does not wait for this.
      if (part > 0) subtract_products<1>(v, part, left, exchange);
      const int count = min(left, slice);
      factor_slice(v, position, part, count, left > slice, exchange, of_warp, first_zero, my_pivot);
      GAUSSWEEP_ROLLED
      for (int i = count; i < slice; ++i) rotate<slice, 1>(v);
      if constexpr (slice < Columns) {
        if (left > slice) {
          exchange.store_lower(part, v, position);
          exchange.solve(part, cols);
        }
      }
    }
    rotate<Columns, slice>(v);
  }
}

#endif

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail
