#pragma once
/// The columns of a panel of an LU factorisation, one after the other, in the registers of a cluster:
/// cluster_panel.cuh.
///
/// Registers are indexed by constants only: each step shifts the row by one column, the finished element
/// enters at the other end, and after as many steps as there are columns every element is back at its place.
/// The loop's body is therefore one for all columns and stays in the instruction cache. A wide panel goes
/// round in two halves: while the second is factored, the first is left alone.

#include <cmath>
#include <cstdint>

#include "kernels/getrf/panel_messages.cuh"
#include "kernels/getrf/recursive_workspace.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail {

/// Columns of the first half of a panel in `Columns` registers.
template <int Columns>
constexpr int first_half = Columns >= 16 ? Columns / 2 : Columns;

using gaussweep::lu::most_blocks;

/// Shared memory in which the candidates and rows of a cluster's blocks arrive; and of a block that is alone.
template <class T, int Columns, int Threads>
struct ClusterMailMemory {
  alignas(16) Candidate candidates[2][most_blocks];
  alignas(16) T rows[2][most_blocks][Columns];
  alignas(16) Candidate of_warp[2][Threads / 32];
  alignas(16) T row[Columns];
  std::uint64_t candidates_arrived[2];
  std::uint64_t rows_arrived[2];
};
template <class T, int Columns, int Threads>
struct BlockMailMemory {
  alignas(16) Candidate of_warp[2][Threads / 32];
  alignas(16) T rows[2][Threads / 32][Columns];
};

#if GAUSSWEEP_CLUSTERS

/// The first `Active` elements of each row, moved on by one column.
template <int Active, int Columns, int RowsPerThread, class T>
__device__ __forceinline__ void rotate(T (&v)[RowsPerThread][Columns]) {
  GAUSSWEEP_UNROLL
  for (int s = 0; s < RowsPerThread; ++s) {
    const T head = v[s][0];
    GAUSSWEEP_UNROLL
    for (int c = 1; c < Active; ++c) v[s][c - 1] = v[s][c];
    v[s][Active - 1] = head;
  }
}

/// The thread's candidate for the pivot of column j, the first of `v`, among its rows that are no pivots yet.
template <int Columns, int RowsPerThread, class T>
__device__ __forceinline__ Candidate candidate_of(const T (&v)[RowsPerThread][Columns],
                                                  const int (&position)[RowsPerThread], int j) {
  Candidate mine = {0, 0, nobody, 0};
  GAUSSWEEP_UNROLL
  for (int s = 0; s < RowsPerThread; ++s) {
    const Candidate c = candidate(v[s][0], position[s]);
    const bool larger = c.high > mine.high || (c.high == mine.high && c.low > mine.low);
    const bool equal = c.high == mine.high && c.low == mine.low;
    const bool open = position[s] >= j && position[s] != nobody;
    if (open && (larger || (equal && position[s] < mine.position))) mine = c;
  }
  return mine;
}

/// A warp's candidate for the pivot of the next column: each lane's, and which lane's is the best.
struct WarpCandidate {
  Candidate mine;
  int best_lane;
};

/// How the blocks of a cluster agree on a pivot and learn its row: each block sends its best candidate to all
/// of them, and that one's row, which arrives while the best candidate is looked for. A quick block may send
/// the next while the last is still read: two turns.
template <class T, int Columns, int Threads>
class ClusterMail {
 public:
  using Memory = ClusterMailMemory<T, Columns, Threads>;

  /// Nothing may be sent before all blocks of the cluster have made theirs.
  __device__ __forceinline__ explicit ClusterMail(Memory& memory)
      : candidates_(simt::shared_address(memory.candidates)),
        rows_(simt::shared_address(memory.rows)),
        of_warp_(simt::shared_address(memory.of_warp)),
        row_(simt::shared_address(memory.row)),
        candidates_arrived_(simt::shared_address(memory.candidates_arrived)),
        rows_arrived_(simt::shared_address(memory.rows_arrived)),
        rank_(simt::cluster_rank()),
        blocks_(simt::cluster_blocks()) {
    if (threadIdx.x > 0) return;
    for (unsigned turn = 0; turn < 2; ++turn) {
      simt::start_barrier(candidates_arrived_ + turn * 8);
      simt::start_barrier(rows_arrived_ + turn * 8);
      expect_candidates(turn);
      expect_rows(turn);
    }
    simt::announce_barriers();
  }

  /// Of column j: each lane's candidate, one of those of the cluster's blocks, or none. Of the rows' first
  /// `Active` elements `unfinished` are meant.
  template <int Active, int RowsPerThread>
  __device__ __forceinline__ Candidate exchange(unsigned j, int unfinished,
                                                const T (&v)[RowsPerThread][Columns],
                                                const int (&position)[RowsPerThread],
                                                const WarpCandidate& of_warp) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const unsigned turn = j % 2;
    // The block's candidate: the best of the warps'.
    const unsigned of_warps = of_warp_ + turn * (Threads / 32) * candidate_bytes;
    if (lane == of_warp.best_lane) {
      store_candidate(of_warps + static_cast<unsigned>(warp) * candidate_bytes, of_warp.mine);
    }
    __syncthreads();
    Candidate seen = {0, 0, nobody, 0};
    if (lane < Threads / 32) seen = load_candidate(of_warps + static_cast<unsigned>(lane) * candidate_bytes);
    const int best_warp = best_lane(seen);
    if (warp == best_warp) {
      // The warp that holds it tells every block, a lane each, and sends the row after it.
      if (lane < static_cast<int>(blocks_)) {
        const auto r = static_cast<unsigned>(lane);
        const Candidate best = load_candidate(of_warps + static_cast<unsigned>(best_warp) * candidate_bytes);
        send_candidate(simt::address_at(candidates_ + (turn * most_blocks + rank_) * candidate_bytes, r),
                       simt::address_at(candidates_arrived_ + turn * 8, r), best);
      }
      if (lane == of_warp.best_lane) {
        GAUSSWEEP_UNROLL
        for (int s = 0; s < RowsPerThread; ++s) {
          if (RowsPerThread > 1 && position[s] != of_warp.mine.position) continue;
          GAUSSWEEP_UNROLL
          for (int c = 0; c < Active; c += pack) {
            simt::store_pack(row_ + static_cast<unsigned>(c * sizeof(T)), &v[s][c]);
          }
        }
      }
      __syncwarp();
      send_row<Active>(turn, unfinished);
    }
    simt::wait(candidates_arrived_ + turn * 8, j / 2 % 2);
    if (threadIdx.x == 0) expect_candidates(j + 2);
    seen = {0, 0, nobody, 0};
    if (lane < static_cast<int>(blocks_)) seen = candidate_from(j, lane);
    return seen;
  }
  /// What lane `from` has got.
  __device__ __forceinline__ Candidate candidate_from(unsigned j, int from) const {
    return load_candidate(candidates_ +
                          (j % 2 * most_blocks + static_cast<unsigned>(from)) * candidate_bytes);
  }
  /// The row of that candidate, finished elements as 0: nothing is to be subtracted from them. All wait until
  /// the rows are there.
  __device__ __forceinline__ unsigned row_from(unsigned j, int from) const {
    simt::wait(rows_arrived_ + j % 2 * 8, j / 2 % 2);
    if (threadIdx.x == 0) expect_rows(j + 2);
    return rows_ + (j % 2 * most_blocks + static_cast<unsigned>(from)) * row_bytes;
  }

 private:
  static constexpr int pack = 16 / sizeof(T);
  static constexpr unsigned candidate_bytes = sizeof(Candidate);
  static constexpr unsigned row_bytes = Columns * sizeof(T);

  /// What arrives for column j; never nothing, which would be over before those that wait for the column
  /// before have seen that.
  __device__ __forceinline__ void expect_candidates(unsigned j) const {
    simt::expect_bytes(candidates_arrived_ + j % 2 * 8, blocks_ * candidate_bytes);
  }
  __device__ __forceinline__ void expect_rows(unsigned j) const {
    constexpr unsigned half = first_half<Columns>;
    const unsigned elements = j < half || half == Columns ? Columns : Columns - half;
    simt::expect_bytes(rows_arrived_ + j % 2 * 8, blocks_ * elements * static_cast<unsigned>(sizeof(T)));
  }
  template <int Active>
  __device__ __forceinline__ void send_row(unsigned turn, int unfinished) const {
    // 16 bytes a lane; as many lanes as a row takes send it to one block, others to the next.
    constexpr unsigned packs = Active / pack, at_once = 32 / packs;
    const unsigned lane = threadIdx.x % 32;
    const unsigned own_pack = lane % packs;
    T elements[pack];
    simt::load_pack(row_ + own_pack * 16, elements);
    GAUSSWEEP_UNROLL
    for (int p = 0; p < pack; ++p) {
      if (static_cast<int>(own_pack) * pack + p >= unfinished) elements[p] = T(0);
    }
    const unsigned to = rows_ + (turn * most_blocks + rank_) * row_bytes + own_pack * 16;
    for (unsigned r = lane / packs; r < blocks_; r += at_once) {
      simt::send_pack(simt::address_at(to, r), simt::address_at(rows_arrived_ + turn * 8, r), elements);
    }
  }

  unsigned candidates_, rows_, of_warp_, row_;  // addresses in shared memory, as numbers
  unsigned candidates_arrived_, rows_arrived_;  // barriers
  unsigned rank_, blocks_;
};

/// The same for a block that is alone: its warps' candidates and these one's rows, a barrier a column. Quick
/// warps may store the next while slow ones read the last: two turns.
template <class T, int Columns, int Threads>
class BlockMail {
 public:
  using Memory = BlockMailMemory<T, Columns, Threads>;

  __device__ __forceinline__ explicit BlockMail(Memory& memory)
      : of_warp_(simt::shared_address(memory.of_warp)), rows_(simt::shared_address(memory.rows)) {}

  template <int Active, int RowsPerThread>
  __device__ __forceinline__ Candidate exchange(unsigned j, int unfinished,
                                                const T (&v)[RowsPerThread][Columns],
                                                const int (&)[RowsPerThread],
                                                const WarpCandidate& of_warp) const {
    static_assert(RowsPerThread == 1, "the best lane's row is its only one");
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const unsigned own = j % 2 * warps + threadIdx.x / 32;
    if (lane == of_warp.best_lane) {
      store_candidate(of_warp_ + own * candidate_bytes, of_warp.mine);
      // Two columns ago two elements more were stored; those beyond are 0 since then.
      const unsigned to = rows_ + own * row_bytes;
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Active; c += pack) {
        if (c < unfinished) simt::store_pack(to + static_cast<unsigned>(c * sizeof(T)), &v[0][c]);
      }
      for (int c = unfinished; c < min(unfinished + pack, Active); ++c) {
        simt::store_one(to + static_cast<unsigned>(c * static_cast<int>(sizeof(T))), T(0));
      }
    }
    __syncthreads();
    Candidate seen = {0, 0, nobody, 0};
    if (lane < static_cast<int>(warps)) seen = candidate_from(j, lane);
    return seen;
  }
  __device__ __forceinline__ Candidate candidate_from(unsigned j, int from) const {
    return load_candidate(of_warp_ + (j % 2 * warps + static_cast<unsigned>(from)) * candidate_bytes);
  }
  __device__ __forceinline__ unsigned row_from(unsigned j, int from) const {
    return rows_ + (j % 2 * warps + static_cast<unsigned>(from)) * row_bytes;
  }

 private:
  static constexpr int pack = 16 / sizeof(T);
  static constexpr unsigned warps = Threads / 32;
  static constexpr unsigned candidate_bytes = sizeof(Candidate);
  static constexpr unsigned row_bytes = Columns * sizeof(T);

  unsigned of_warp_, rows_;
};

/// Factors the columns [begin, end) of a panel whose columns from `begin` on are the first `Active` elements
/// of `v`, those before it the others. A thread has rows of `position`; they exchange these, not their
/// elements. `of_warp`: the candidate for column `begin`, becomes that for `end`. `first_zero`: becomes the
/// first column without a pivot; `my_pivot`: the pivot of the column that is the lane's number.
template <int Active, class Mail, int Columns, int RowsPerThread, class T>
__device__ __forceinline__ void factor_columns(T (&v)[RowsPerThread][Columns], int (&position)[RowsPerThread],
                                               int begin, int end, const Mail& mail, WarpCandidate& of_warp,
                                               int& first_zero, int& my_pivot) {
  constexpr unsigned all = 0xffffffffu;
  constexpr int pack = 16 / sizeof(T);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  GAUSSWEEP_ROLLED
  for (int j = begin; j < end; ++j) {
    const auto column = static_cast<unsigned>(j);
    const Candidate seen = mail.template exchange<Active>(column, Active - (j - begin), v, position, of_warp);
    // The pivot, and its reciprocal: every lane takes that of one candidate meanwhile.
    T inverse = reciprocal(value_of(seen, T()));
    const int from = best_lane(seen);
    inverse = __shfl_sync(all, inverse, from);
    const Candidate best = mail.candidate_from(column, from);
    const int pivot = best.position;
    const bool zero = (best.high | best.low) == 0;
    if (zero && first_zero == nobody) first_zero = j;
    if (lane == j) my_pivot = pivot;

    T factor[RowsPerThread], entering[RowsPerThread];
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) factor[s] = v[s][0] * inverse;
    if (!has_reciprocal(best, T())) {
      GAUSSWEEP_UNROLL
      for (int s = 0; s < RowsPerThread; ++s) factor[s] = zero ? T(0) : v[s][0] / value_of(best, T());
    }
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) {
      const bool below = position[s] >= j && position[s] != pivot;
      entering[s] = below && !zero ? factor[s] : v[s][0];
      factor[s] = below ? -factor[s] : T(0);
      if (position[s] == pivot) {
        position[s] = j;
      } else if (position[s] == j) {
        position[s] = pivot;
      }
    }

    // Each row, less its factor times the pivot's, moved on by one column. Between these the warp's candidate
    // for the next column is found: its steps wait for each other, the others for nothing.
    const unsigned u_row = mail.row_from(column, from);
    T u[pack];
    const auto subtract = [&](int first, int last) {
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Active; ++c) {
        if (c < first || c >= last) continue;
        if (c % pack == 0) simt::load_pack(u_row + static_cast<unsigned>(c * sizeof(T)), u);
        if (c == 0) continue;
        GAUSSWEEP_UNROLL
        for (int s = 0; s < RowsPerThread; ++s) v[s][c - 1] = std::fma(factor[s], u[c % pack], v[s][c]);
      }
    };
    subtract(0, 2);
    of_warp.mine = candidate_of(v, position, j + 1);
    const unsigned most = __reduce_max_sync(all, of_warp.mine.high);
    subtract(2, Active / 2);
    const unsigned equal = __ballot_sync(all, of_warp.mine.high == most);
    subtract(Active / 2, Active);
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) v[s][Active - 1] = entering[s];
    of_warp.best_lane = best_of_equal(of_warp.mine, most, equal);
  }
}

#endif

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail
