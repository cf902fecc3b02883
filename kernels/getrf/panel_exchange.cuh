#pragma once
/// How those that hold a panel's rows agree on each column's pivot and learn its row. Blocks of a cluster use
/// messages, the warps of a block that is alone its shared memory. For panel_columns.cuh.
///
/// A panel is factored in slices of a few columns. What is told of a candidate for the pivot of a column
/// holds its row's elements in the slice. So one message is enough to go on to the next column. All of the
/// pivot's row follows when everybody knows whose it is, and is wanted when the slice ends.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/getrf/panel_messages.cuh"
#include "kernels/getrf/recursive_workspace.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail {

using gaussweep::lu::most_blocks;

/// Columns of a slice of a panel that has `Columns`.
template <int Columns>
constexpr int slice_columns = std::min(Columns, 8);

/// Who tells the cluster of candidates: every warp, or every block, whose warps agree first. `block`: warps
/// of a cluster of one block, which need no messages.
enum class Senders { block, warps, blocks };

/// A candidate, and its row within the slice. Minus its reciprocal, where it has one, is in its own place.
/// Then come the elements that follow it, 0 for finished columns.
template <class T, int Slice>
struct alignas(16) Message {
  Candidate candidate;
  alignas(16) T row[Slice];
};

/// Shared memory of a block for what it is told in a slice, and what it makes of it.
template <class T, int Columns, int RowsPerThread, int Threads, Senders By>
struct ExchangeMemory {
  static constexpr int slice = slice_columns<Columns>;
  static constexpr int warps = Threads / 32;
  static constexpr int most_senders = By == Senders::block ? warps : By == Senders::warps ? 32 : most_blocks;
  Message<T, slice> messages[slice][most_senders];  ///< a column each
  Message<T, slice> of_warp[2][warps];
  alignas(16) T rows[slice][Columns];  ///< of the pivots, from the slice's first column on
  alignas(16) T row_of_warp[warps][Columns];
  alignas(16) T upper[2][slice][Columns];  ///< those of U, from the first column right of the slice on: of
                                           ///< two slices, the next's before the last one's is out of use.
  /// The slice's part of L with its sign changed, a thread's rows one after the other. It is 0 where U's row
  /// is none above.
  T lower[slice][Columns > slice ? RowsPerThread : 1][Threads];
  std::uint64_t messages_arrived[slice];
  std::uint64_t rows_arrived;
};

#if GAUSSWEEP_CLUSTERS

/// A warp's candidate for the pivot of the next column: each lane's, minus its reciprocal, and which lane's
/// is the best.
template <class T>
struct WarpCandidate {
  Candidate mine;
  T minus_inverse;
  Choice choice;
};

/// Exchange of a slice, whose columns have their numbers within it. A column's place is free again in the
/// next slice, which nobody reaches before all have ended this. `part`: the slice's number.
template <class T, int Columns, int RowsPerThread, int Threads, Senders By>
class Exchange {
 public:
  using Memory = ExchangeMemory<T, Columns, RowsPerThread, Threads, By>;
  using Rows = T[RowsPerThread][Columns];
  using Positions = int[RowsPerThread];
  static constexpr int slice = Memory::slice;
  using Told = Message<T, slice>;

  /// Of a panel of `cols` columns; 0: this cluster factors none, and no barrier is made for what never comes.
  /// Nothing may be sent before all blocks of the cluster have made theirs.
  __device__ __forceinline__ Exchange(Memory& memory, int cols)
      // By a shuffle, which the compiler does not make anew at each use.
      : base_(__shfl_sync(0xffffffffu, simt::shared_address(&memory), 0)),
        blocks_(simt::cluster_blocks()),
        sender_(by_warp ? simt::cluster_rank() * warps + threadIdx.x / 32 : simt::cluster_rank()),
        senders_(alone     ? warps
                 : by_warp ? blocks_ * warps
                           : blocks_),
        receiver_(simt::map_shared_rank(base_, min(threadIdx.x % receivers, blocks_ - 1))) {
    if (alone || cols == 0 || threadIdx.x >= 32) return;
    if (threadIdx.x <= slice) simt::mbarrier_init(base_ + barrier_of(threadIdx.x));
    __syncwarp();
    expect_messages(0, cols);
    if (threadIdx.x == slice) expect_rows(0, cols);
    simt::fence_mbarrier_init();
  }

  /// Sends the candidate for the slice's column i, all of whose elements in the slice are up to date.
  __device__ __forceinline__ void send(unsigned i, const Rows& v, const Positions& position,
                                       const WarpCandidate<T>& of_warp) const {
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned of_warps =
        base_ +
        (alone ? message_of(i, 0) : static_cast<unsigned>(offsetof(Memory, of_warp)) + i % 2 * warps * bytes);
    const unsigned own = of_warps + warp * bytes;
    store_message(own, i, v, position, of_warp, of_warp.choice.lane);
    if (of_warp.choice.is_doubtful()) {
      __syncwarp();
      store_message(own, i, v, position, of_warp, best_lane(of_warp.mine));
    }
    if constexpr (!alone) {
      if constexpr (by_warp) {
        __syncwarp();
      } else {
        __syncthreads();
        const Choice choice = choose(lane < warps ? high_at(of_warps + lane * bytes) : 0);
        const int best = choice.is_doubtful() ? best_at(of_warps, warps) : choice.lane;
        if (static_cast<int>(warp) != best) return;
      }
      constexpr unsigned at_once = 32 / receivers;  // pieces of 16 bytes
      const unsigned first = lane / receivers;
      const bool is_there = lane % receivers < blocks_;
      const unsigned to = receiver_ + message_of(i, sender_), barrier = receiver_ + barrier_of(i);
      GAUSSWEEP_UNROLL
      for (unsigned p = 0; p < pieces; p += at_once) {
        const unsigned piece = min(p + first, pieces - 1);
        unsigned words[4];
        simt::load_pack(own + piece * 16, words);
        clear_finished(words, piece, slice - i);
        simt::st_async_if(is_there && p + first < pieces, to + piece * 16, barrier, words);
      }
    }
  }
  /// What all are told of the best candidate for column i, once all have sent theirs. False where that is in
  /// doubt and settle has to be asked.
  __device__ __forceinline__ bool await(unsigned part, unsigned i, Told& best) const {
    const unsigned lane = threadIdx.x % 32;
    if constexpr (alone) {
      __syncthreads();
    } else {
      simt::mbarrier_wait(base_ + barrier_of(i), part % 2);
    }
    const unsigned messages = base_ + message_of(i, 0);
    const Choice choice = choose(lane < senders_ ? high_at(messages + lane * bytes) : 0);
    load_message(messages + static_cast<unsigned>(choice.lane) * bytes, best);
    return !choice.is_doubtful();
  }
  __device__ __forceinline__ void settle(unsigned i, Told& best) const {
    const unsigned messages = base_ + message_of(i, 0);
    load_message(messages + static_cast<unsigned>(best_at(messages, senders_)) * bytes, best);
  }
  /// Sends the row of the pivot of the slice's column i, from the slice on, if it is one of this warp's. The
  /// row has its position by now.
  __device__ __forceinline__ void hand_row(unsigned part, unsigned i, const Rows& v,
                                           const Positions& position) const {
    const int j = static_cast<int>(part * slice + i);
    bool mine = false;
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) mine = mine || position[s] == j;
    if (__ballot_sync(0xffffffffu, mine) == 0) return;
    __syncwarp();  // the row before was read
    const unsigned to = static_cast<unsigned>(offsetof(Memory, rows)) + i * row_bytes;
    const unsigned own =
        base_ + static_cast<unsigned>(offsetof(Memory, row_of_warp)) + threadIdx.x / 32 * row_bytes;
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) {
      if (position[s] != j) continue;
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; c += pack) {
        simt::store_pack((alone ? base_ + to : own) + static_cast<unsigned>(c * sizeof(T)), &v[s][c]);
      }
    }
    if constexpr (!alone) {
      __syncwarp();
      // 16 bytes a lane; as many lanes as a row takes send it to one block, others to the next.
      constexpr unsigned packs = Columns / pack, at_once = 32 / packs;
      const unsigned lane = threadIdx.x % 32;
      const unsigned piece = lane % packs;
      unsigned words[4];
      simt::load_pack(own + piece * 16, words);
      if (piece * pack >= Columns - part * slice) return;  // finished columns
      GAUSSWEEP_ROLLED
      for (unsigned r = lane / packs; r < blocks_; r += at_once) {
        const unsigned there = simt::map_shared_rank(base_, r);
        simt::st_async(there + to + piece * 16, there + barrier_of(slice), words);
      }
    }
  }
  /// Makes the rows of U right of the slice of what the pivots' rows hold. Makes ready for the next slice.
  /// All of the block's warps call it.
  __device__ __forceinline__ void solve(unsigned part, int cols) const {
    if constexpr (alone) {
      __syncthreads();
    } else {
      expect_messages(part + 1, cols);
    }
    if (threadIdx.x < 32) {
      if constexpr (!alone) {
        simt::mbarrier_wait(base_ + barrier_of(slice), part % 2);
        __syncwarp();
        if (threadIdx.x == 0) expect_rows(part + 1, cols);
      }
      solve_by_warp(part);
    }
    __syncthreads();
  }
  /// Notes the slice's part of L for subtract_product.
  __device__ __forceinline__ void store_lower(unsigned part, const Rows& v, const Positions& position) const {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < slice; ++k) {
      GAUSSWEEP_UNROLL
      for (int s = 0; s < RowsPerThread; ++s) {
        const bool below = position[s] > static_cast<int>(part * slice) + k;
        simt::store_one(lower_of(k, s), below ? -v[s][k] : T(0));
      }
    }
  }
  /// The product of L and U that slice `part` leaves to do right of it. Its columns are those of the slice
  /// which is number `Group` there; these are its place in `v`, too.
  template <int Group>
  __device__ __forceinline__ void subtract_product(unsigned part, Rows& v) const {
    constexpr int first = Group * slice;
    GAUSSWEEP_ROLLED
    for (int begin = 0; begin < slice; begin += 2) {
      GAUSSWEEP_UNROLL
      for (int k = begin; k < begin + 2; ++k) {
        T factor[RowsPerThread];
        GAUSSWEEP_UNROLL
        for (int s = 0; s < RowsPerThread; ++s) simt::load_one(lower_of(k, s), factor[s]);
        const unsigned row = upper_row(part, k);
        GAUSSWEEP_UNROLL
        for (int c = first; c < first + slice; c += static_cast<int>(pack)) {
          T u[pack];
          simt::load_pack(row + static_cast<unsigned>(c * sizeof(T)), u);
          GAUSSWEEP_UNROLL
          for (int p = 0; p < static_cast<int>(pack); ++p) {
            GAUSSWEEP_UNROLL
            for (int s = 0; s < RowsPerThread; ++s) v[s][c + p] = std::fma(factor[s], u[p], v[s][c + p]);
          }
        }
      }
    }
  }

 private:
  static constexpr bool alone = By == Senders::block, by_warp = By == Senders::warps;
  static constexpr unsigned warps = Threads / 32;
  static constexpr unsigned receivers = by_warp ? std::min(32 / warps, 16u) : most_blocks;
  static constexpr unsigned pack = 16 / sizeof(T);
  static constexpr unsigned bytes = sizeof(Told), pieces = bytes / 16;
  static constexpr unsigned row_bytes = Columns * sizeof(T);

  // Where things lie in the memory of this block, and of any other.
  __device__ __forceinline__ static unsigned message_of(unsigned i, unsigned sender) {
    return static_cast<unsigned>(offsetof(Memory, messages)) + (i * Memory::most_senders + sender) * bytes;
  }
  /// Of the messages for the slice's column i; of rows that of `slice`.
  __device__ __forceinline__ static unsigned barrier_of(unsigned i) {
    return static_cast<unsigned>(offsetof(Memory, messages_arrived)) + i * 8;
  }
  __device__ __forceinline__ unsigned upper_row(unsigned part, int k) const {
    return base_ + static_cast<unsigned>(offsetof(Memory, upper)) +
           (part % 2 * slice + static_cast<unsigned>(k)) * row_bytes;
  }
  __device__ __forceinline__ unsigned lower_of(int k, int s) const {
    return base_ + static_cast<unsigned>(offsetof(Memory, lower)) +
           static_cast<unsigned>((k * RowsPerThread + s) * Threads * static_cast<int>(sizeof(T))) +
           threadIdx.x * static_cast<unsigned>(sizeof(T));
  }

  /// The warp's message to `address`, by lane `from`.
  __device__ __forceinline__ static void store_message(unsigned address, unsigned i, const Rows& v,
                                                       const Positions& position,
                                                       const WarpCandidate<T>& of_warp, int from) {
    const bool best = static_cast<int>(threadIdx.x % 32) == from;
    const unsigned words[4] = {of_warp.mine.high, of_warp.mine.low,
                               static_cast<unsigned>(of_warp.mine.position), of_warp.mine.with_sign};
    simt::store_pack_if(best, address, words);
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) {
      const bool its = best && (RowsPerThread == 1 || position[s] == of_warp.mine.position);
      GAUSSWEEP_UNROLL
      for (unsigned c = 0; c < slice; c += pack) {
        T elements[pack];
        GAUSSWEEP_UNROLL
        for (unsigned p = 0; p < pack; ++p) {
          elements[p] = !alone || c + p + i < slice ? v[s][c + p] : T(0);
        }
        if (c == 0) elements[0] = of_warp.minus_inverse;
        simt::store_pack_if(its, address + static_cast<unsigned>(sizeof(Candidate) + c * sizeof(T)),
                            elements);
      }
    }
  }
  /// Of a message's piece, elements from `unfinished` on become 0.
  __device__ __forceinline__ static void clear_finished(unsigned (&words)[4], unsigned piece,
                                                        unsigned unfinished) {
    constexpr unsigned candidates = sizeof(Candidate) / 16, each = 4 / pack;
    GAUSSWEEP_UNROLL
    for (unsigned w = 0; w < 4; ++w) {
      if (piece >= candidates && (piece - candidates) * pack + w / each >= unfinished) words[w] = 0;
    }
  }
  __device__ __forceinline__ static void load_message(unsigned address, Told& message) {
    message.candidate = load_candidate(address);
    GAUSSWEEP_UNROLL
    for (unsigned c = 0; c < slice; c += pack) {
      simt::load_pack(address + static_cast<unsigned>(sizeof(Candidate) + c * sizeof(T)), &message.row[c]);
    }
  }
  __device__ __forceinline__ static unsigned high_at(unsigned address) {
    unsigned high;
    simt::load_one(address, high);
    return high;
  }
  /// Of so many messages at `address` that of the best candidate.
  __device__ __forceinline__ static int best_at(unsigned address, unsigned senders) {
    const unsigned lane = threadIdx.x % 32;
    return best_lane(lane < senders ? load_candidate(address + lane * bytes) : no_candidate);
  }

  /// By one warp, a lane a column. A pivot's row has its factors where its thread had them when it was
  /// chosen. That of column k has the one of column i `slice - 1 - k + i` places from the first.
  __device__ __forceinline__ void solve_by_warp(unsigned part) const {
    const unsigned columns = Columns - (part + 1) * slice;
    const unsigned column = threadIdx.x < columns ? threadIdx.x : 0;
    const unsigned rows = base_ + static_cast<unsigned>(offsetof(Memory, rows));
    T x[slice];
    GAUSSWEEP_UNROLL
    for (int k = 0; k < slice; ++k) {
      simt::load_one(
          rows + static_cast<unsigned>(k) * row_bytes + (slice + column) * static_cast<unsigned>(sizeof(T)),
          x[k]);
    }
    GAUSSWEEP_UNROLL
    for (int k = 1; k < slice; ++k) {
      GAUSSWEEP_UNROLL
      for (int i = 0; i < k; ++i) {
        T factor;
        simt::load_one(rows + static_cast<unsigned>(k) * row_bytes +
                           static_cast<unsigned>((slice - 1 - k + i) * static_cast<int>(sizeof(T))),
                       factor);
        x[k] = std::fma(-factor, x[i], x[k]);
      }
    }
    if (threadIdx.x >= columns) return;
    GAUSSWEEP_UNROLL
    for (int k = 0; k < slice; ++k) {
      simt::store_one(upper_row(part, k) + column * static_cast<unsigned>(sizeof(T)), x[k]);
    }
  }

  /// What is to arrive in slice `part` of a panel of `cols` columns: a thread a column; and, where another
  /// slice follows, rows. Some of it may have come before this is said, if all that was to come in the slice
  /// before has. A barrier that nobody will wait for is not armed.
  __device__ __forceinline__ void expect_messages(unsigned part, int cols) const {
    if (threadIdx.x >= slice || static_cast<int>(part * slice + threadIdx.x) >= cols) return;
    simt::mbarrier_arrive_expect_tx(base_ + barrier_of(threadIdx.x), senders_ * bytes);
  }
  __device__ __forceinline__ void expect_rows(unsigned part, int cols) const {
    if (static_cast<int>((part + 1) * slice) >= cols) return;
    simt::mbarrier_arrive_expect_tx(base_ + barrier_of(slice),
                                    slice * (Columns - part * slice) * static_cast<unsigned>(sizeof(T)));
  }

  unsigned base_;  ///< of the block's memory, as simt has addresses
  unsigned blocks_, sender_, senders_;
  unsigned receiver_;  ///< the memory of the block to which this lane sends
};

#endif

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail
