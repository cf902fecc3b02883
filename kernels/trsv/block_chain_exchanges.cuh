#pragma once
/// LAPACK's exchanges of rows, n of them one after another, followed by a block while others solve already.
///
/// 32 exchanges are taken at once: a lane finds by shuffles which lane before it has put something into the
/// rows that it exchanges. What was moved is kept as a number a row (`sources`), so that the right-hand sides
/// themselves move once. Row i is final after the first i exchanges (pivots point downwards), so the pieces
/// are handed on in order.

#include "kernels/trsv/block_chain_tiles.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::chain {

struct Exchanges {
  int n;
  const int* pivots;  ///< from 1
  int* sources;       ///< n numbers: the first b's row that is in a row; -1: its own

  __device__ int content_of(int q) const { return sources[q] < 0 ? q : sources[q]; }

  __device__ int pivot_of(int i) const { return i < n ? pivots[i] : 0; }
  /// The row, from 0, that is exchanged with row i; beyond n one that no other lane of the window has.
  __device__ int partner(int i, int pivot) const {
    if (i >= n) return -1 - i % lanes;
    return pivot <= i || pivot > n ? i : pivot - 1;  // no pivot points elsewhere
  }

  /// The exchanges of rows first … first + 31, each with the lane's row q.
  /// @return which row of the first b is in row first + lane then
  __device__ int exchange(int first, int lane, int q) const {
    const int i = first + lane;
    const bool inside = i < n;
    int link = -1;      // the last lane before this one that has put something into row i
    int previous = -1;  // the last lane before this one that has put something into row q
    bool followed = false;
    GAUSSWEEP_UNROLL
    for (int s = 0; s < lanes; ++s) {
      const int other = __shfl_sync(all_lanes, q, s);
      if (s < lane && other == i) link = s;
      if (s < lane && other == q) previous = s;
      followed = followed || (s > lane && other == q);
    }
    int content = inside ? content_of(i) : 0;
    int found = inside ? content_of(q) : 0;
    // What is in row i before its turn came along the links.
    GAUSSWEEP_UNROLL
    for (int round = 0; round < 5; ++round) {
      const int from = link < 0 ? lane : link;
      content = __shfl_sync(all_lanes, content, from);
      link = __shfl_sync(all_lanes, link, from);
    }
    const int put = __shfl_sync(all_lanes, content, previous < 0 ? lane : previous);
    if (previous >= 0) found = put;
    __syncwarp();  // all have read
    if (q >= first + lanes && !followed) sources[q] = content;
    __syncwarp();
    return q == i ? content : found;
  }
};

/// b (n x nrhs) after the exchanges, as pieces of R right-hand sides: warp 0 follows the rows, the others
/// move them. `near`: `room` numbers in shared memory, where the sources are kept if they fit; else they are
/// in `far`, all bits set. `found`: two pieces in shared memory, used by turns.
template <class T, int R>
__device__ void exchange_rows(std::int64_t n, int nrhs, const T* b, std::int64_t ldb, const int* pivots,
                              T* permuted, int* near, int room, int* far, int* found) {
  const int t = static_cast<int>(threadIdx.x);
  const int lane = t % lanes, warp = t / lanes;
  const int blocks = static_cast<int>((n + order - 1) / order);
  const Exchanges rows_of_b{static_cast<int>(n), pivots, n <= room ? near : far};
  for (int i = t; i < room; i += threads) near[i] = -1;
  // Loaded two pieces ahead, by turns, since memory takes longer than a piece.
  int pivot[2][rows];
  GAUSSWEEP_UNROLL
  for (int turn = 0; turn < 2; ++turn) {
    GAUSSWEEP_UNROLL
    for (int half = 0; half < rows; ++half) {
      pivot[turn][half] = warp == 0 ? rows_of_b.pivot_of(turn * order + half * lanes + lane) : 0;
    }
  }
  __syncthreads();
  for (int pair = 0; pair <= blocks; pair += 2) {
    GAUSSWEEP_UNROLL
    for (int turn = 0; turn < 2; ++turn) {
      const int block = pair + turn;
      if (block > blocks) break;
      if (warp == 0 && block < blocks) {
        GAUSSWEEP_UNROLL
        for (int half = 0; half < rows; ++half) {
          const int first = block * order + half * lanes;
          const int partner = rows_of_b.partner(first + lane, pivot[turn][half]);
          pivot[turn][half] = rows_of_b.pivot_of(first + lane + 2 * order);
          found[turn * order + half * lanes + lane] = rows_of_b.exchange(first, lane, partner);
        }
      }
      if (warp > 0 && block > 0) {
        const std::int64_t before = block - 1;
        for (int k = t - lanes; k < R * order; k += threads - lanes) {
          const int row = k % order, r = k / order;
          const bool inside = before * order + row < n && r < nrhs;
          const T value = inside ? b[found[(1 - turn) * order + row] + r * ldb] : T(0);
          simt::store_volatile(permuted + (before * R + r) * order + row, presentable(value));
        }
      }
      __syncthreads();
    }
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::chain
