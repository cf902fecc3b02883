#pragma once
/// Applies LAPACK's n sequential row exchanges in one thread block, while other thread blocks already solve.
///
/// A warp processes 32 exchanges together, one per lane. An exchange swaps two rows. For each of the two
/// rows, a lane finds by shuffles the last lower lane that wrote the row. The exchanges move only row numbers
/// (`source_rows`); each element of a right-hand side moves once. Exchange i does not touch rows above i. Row
/// i is therefore final after exchange i. Segments (64 rows of b each, block_chain.cuh) can be published in
/// order.

#include "kernels/trsv/block_chain_tiles.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::chain {

/// The row exchanges of LAPACK's pivots, as a permutation of row numbers.
struct PivotPermutation {
  int n;
  const int* pivots;  ///< LAPACK's pivots, counted from 1
  int* source_rows;   ///< per row, the row of the original b that is now in it; -1 if it is the row itself

  /// Returns the row of the original b that is now in row q.
  __device__ int source_of(int q) const { return source_rows[q] < 0 ? q : source_rows[q]; }
  /// Returns the pivot of row i; 0 beyond the matrix.
  __device__ int pivot_of(int i) const { return i < n ? pivots[i] : 0; }
  /// Returns the row, from 0, to exchange with row i; if i >= n, a number that no other lane has.
  __device__ int partner(int i, int pivot) const {
    if (i >= n) return -1 - i % lanes;
    return pivot <= i || pivot > n ? i : pivot - 1;  // guards against invalid pivots
  }

  /// Applies exchanges first to first + 31, one per lane: exchanges row first + lane with row q. Returns the
  /// row of the original b that is in row first + lane afterwards.
  __device__ int exchange(int first, int lane, int q) const {
    const int i = first + lane;
    const bool inside = i < n;
    int link = -1;                   // the last lower lane that writes row i
    int previous = -1;               // the last lower lane that writes row q
    bool overwritten_later = false;  // a higher lane writes row q
    GAUSSWEEP_UNROLL
    for (int s = 0; s < lanes; ++s) {
      const int other = __shfl_sync(all_lanes, q, s);
      if (s < lane && other == i) link = s;
      if (s < lane && other == q) previous = s;
      overwritten_later = overwritten_later || (s > lane && other == q);
    }
    // The content of a row is the row of the original b that is in it.
    int content = inside ? source_of(i) : 0;
    int moved_in = inside ? source_of(q) : 0;  // the content of row q before this lane's exchange
    // Pointer jumping: follows the links to the content of row i before this lane's exchange. Each round
    // doubles the distance, so that 5 rounds follow up to 31 links.
    GAUSSWEEP_UNROLL
    for (int round = 0; round < 5; ++round) {
      const int from = link < 0 ? lane : link;
      content = __shfl_sync(all_lanes, content, from);
      link = __shfl_sync(all_lanes, link, from);
    }
    const int moved = __shfl_sync(all_lanes, content, previous < 0 ? lane : previous);
    if (previous >= 0) moved_in = moved;
    __syncwarp();  // all lanes have read `source_rows`
    if (q >= first + lanes && !overwritten_later) source_rows[q] = content;
    __syncwarp();
    return q == i ? content : moved_in;
  }
};

/// Applies the exchanges to b (n x nrhs) and publishes the result as segments of RhsPerGroup right-hand
/// sides. Warp 0 computes the source rows of a segment, while the other warps move the elements of the
/// previous one.
/// @param permuted receives the segments
/// @param shared_source_rows `capacity` ints of shared memory for PivotPermutation::source_rows
/// @param global_source_rows n ints with all bits set, used instead if n > capacity
/// @param source_rows double buffer in shared memory for the source rows of two segments
template <class T, int RhsPerGroup>
__device__ void exchange_rows(std::int64_t n, int nrhs, const T* b, std::int64_t ldb, const int* pivots,
                              T* permuted, int* shared_source_rows, int capacity, int* global_source_rows,
                              int* source_rows) {
  const int t = static_cast<int>(threadIdx.x);
  const int lane = t % lanes, warp = t / lanes;
  const int blocks = static_cast<int>((n + block_order - 1) / block_order);
  const PivotPermutation rows_of_b{static_cast<int>(n), pivots,
                                   n <= capacity ? shared_source_rows : global_source_rows};
  for (int i = t; i < capacity; i += threads) shared_source_rows[i] = -1;
  // A segment takes rows_per_lane calls of PivotPermutation::exchange, each for one half (32 rows).
  // Pivots are prefetched two segments ahead, because a load takes longer than a segment.
  int pivot[2][rows_per_lane];
  GAUSSWEEP_UNROLL
  for (int buffer = 0; buffer < 2; ++buffer) {
    GAUSSWEEP_UNROLL
    for (int half = 0; half < rows_per_lane; ++half) {
      pivot[buffer][half] = warp == 0 ? rows_of_b.pivot_of(buffer * block_order + half * lanes + lane) : 0;
    }
  }
  __syncthreads();
  for (int pair = 0; pair <= blocks; pair += 2) {
    GAUSSWEEP_UNROLL
    for (int buffer = 0; buffer < 2; ++buffer) {
      const int block = pair + buffer;
      if (block > blocks) break;
      if (warp == 0 && block < blocks) {
        GAUSSWEEP_UNROLL
        for (int half = 0; half < rows_per_lane; ++half) {
          const int first = block * block_order + half * lanes;
          const int partner = rows_of_b.partner(first + lane, pivot[buffer][half]);
          pivot[buffer][half] = rows_of_b.pivot_of(first + lane + 2 * block_order);
          source_rows[buffer * block_order + half * lanes + lane] = rows_of_b.exchange(first, lane, partner);
        }
      }
      if (warp > 0 && block > 0) {  // publishes the previous segment
        const std::int64_t previous_block = block - 1;
        for (int k = t - lanes; k < RhsPerGroup * block_order; k += threads - lanes) {
          const int row = k % block_order, r = k / block_order;
          const bool inside = previous_block * block_order + row < n && r < nrhs;
          const T value = inside ? b[source_rows[(1 - buffer) * block_order + row] + r * ldb] : T(0);
          simt::store_volatile(permuted + (previous_block * RhsPerGroup + r) * block_order + row,
                               with_canonical_nan(value));
        }
      }
      __syncthreads();
    }
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::chain
