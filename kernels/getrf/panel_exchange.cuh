#pragma once
/// Exchanges pivot candidates among the warps that own a panel's rows, for panel_columns.cuh. A candidate is
/// the largest element of the current column among the rows of a lane, warp or block. The blocks of a cluster
/// send messages to each other's shared memory. If the cluster has a single block, its warps read the block's
/// shared memory instead.
///
/// A panel is factored in slices of at most 8 columns. A candidate's message contains its row's elements in
/// the slice, so that every block can update the slice without further messages. The complete pivot row is
/// sent when the pivot is known; it is needed only for the update right of the slice.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/getrf/panel_messages.cuh"
#include "kernels/getrf/workspaces.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail {

using gaussweep::lu::max_cluster_blocks;

/// Columns per slice of a panel with `Columns` columns.
template <int Columns>
constexpr int slice_columns = std::min(Columns, 8);

/// The warps that send candidates.
enum class Senders {
  block,  ///< the cluster has one block, whose warps need no messages
  warps,  ///< every warp of the cluster sends its best candidate
  blocks  ///< one warp per block sends the best candidate of the block
};

/// A candidate and its row's elements in the slice. row[0] is the negated reciprocal of the candidate, if
/// that is a normal number. The elements right of the candidate follow, then zeros for finished columns. The
/// update of the slice subtracts multiples of `row` in all columns; the zeros keep finished columns
/// unchanged.
template <class T, int Slice>
struct alignas(16) Message {
  Candidate candidate;
  alignas(16) T row[Slice];
};

/// A block's shared memory for the messages of a slice and for the resulting rows of L and U.
template <class T, int Columns, int RowsPerThread, int Threads, Senders SentBy>
struct ExchangeMemory {
  static constexpr int slice = slice_columns<Columns>;
  static constexpr int warps = Threads / 32;
  static constexpr int max_senders = SentBy == Senders::block   ? warps
                                     : SentBy == Senders::warps ? 32
                                                                : max_cluster_blocks;
  Message<T, slice> messages[slice][max_senders];  ///< the received candidates, per column of the slice
  Message<T, slice> warp_best[2][warps];  ///< each warp's candidate, for even [0] and odd [1] columns
  alignas(16) T rows[slice][Columns];  ///< the received pivot rows, beginning with the slice's first column
  alignas(16) T warp_rows[warps][Columns];  ///< per warp: the pivot row that it sends
  alignas(16) T upper[2][slice][Columns];   ///< rows of U right of the slice; double-buffered, because the
                                            ///< next slice's rows are stored while these are in use
  /// The slice's columns of L, negated, as [column][row of the thread][thread]; 0 in rows above the diagonal.
  T lower[slice][Columns > slice ? RowsPerThread : 1][Threads];
  std::uint64_t messages_arrived[slice];  ///< mbarriers, one per column of the slice
  std::uint64_t rows_arrived;             ///< the mbarrier of `rows`; barrier_offset needs it here
};

#if GAUSSWEEP_CLUSTERS

/// A warp's candidates for the pivot of the next column.
template <class T>
struct WarpCandidate {
  Candidate of_lane;  ///< the lane's candidate
  T minus_inverse;    ///< the negated reciprocal of the lane's candidate
  WarpArgmax argmax;  ///< the lane with the best candidate
};

/// The exchange of candidates and pivot rows. In the functions, column `i` is counted from the first column
/// of slice `slice_index`. Message slots are reused in the next slice, which starts only after all senders
/// have finished the current one.
/// @tparam SentBy the senders of candidates
template <class T, int Columns, int RowsPerThread, int Threads, Senders SentBy>
class CandidateExchange {
 public:
  using Memory = ExchangeMemory<T, Columns, RowsPerThread, Threads, SentBy>;
  using ThreadRows = T[RowsPerThread][Columns];  ///< a thread's rows
  using Positions = int[RowsPerThread];          ///< the rows' positions under LAPACK's exchanges
  static constexpr int slice = Memory::slice;
  using SliceMessage = Message<T, slice>;

  /// Initialises the mbarriers. `cols` is the number of columns of the panel, or 0 if this cluster factors no
  /// panel and uses no mbarriers. No block may send a message before all blocks of the cluster have run this
  /// constructor.
  __device__ __forceinline__ CandidateExchange(Memory& memory, int cols)
      // The shuffle stops the compiler from recomputing the address at each use.
      : base_(__shfl_sync(0xffffffffu, simt::shared_address(&memory), 0)),
        blocks_(simt::cluster_blocks()),
        sender_(by_warp ? simt::cluster_rank() * warps + threadIdx.x / 32 : simt::cluster_rank()),
        senders_(single_block ? warps
                 : by_warp    ? blocks_ * warps
                              : blocks_),
        receiver_(simt::map_shared_rank(base_, min(threadIdx.x % receivers, blocks_ - 1))) {
    if (single_block || cols == 0 || threadIdx.x >= 32) return;
    if (threadIdx.x <= slice) simt::mbarrier_init(base_ + barrier_offset(threadIdx.x));
    __syncwarp();
    expect_messages(0, cols);
    if (threadIdx.x == slice) expect_rows(0, cols);
    simt::fence_mbarrier_init();
  }

  /// Sends the warp's candidate for the slice's column i to all blocks. With Senders::blocks, only the warp
  /// with the block's best candidate sends; with Senders::block, every warp stores its message locally.
  /// @pre the candidate row's elements in the slice are up to date
  __device__ __forceinline__ void send(unsigned i, const ThreadRows& v, const Positions& position,
                                       const WarpCandidate<T>& warp_best) const {
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned warp_messages =
        base_ + (single_block
                     ? message_offset(i, 0)
                     : static_cast<unsigned>(offsetof(Memory, warp_best)) + i % 2 * warps * message_bytes);
    const unsigned own_message = warp_messages + warp * message_bytes;
    store_message(own_message, i, v, position, warp_best, warp_best.argmax.lane);
    if (warp_best.argmax.is_ambiguous()) {
      __syncwarp();
      store_message(own_message, i, v, position, warp_best, best_lane(warp_best.of_lane));
    }
    if constexpr (!single_block) {
      if constexpr (by_warp) {
        __syncwarp();
      } else {
        __syncthreads();  // the candidates of all warps are stored; each warp finds the best one
        const WarpArgmax argmax =
            warp_argmax(lane < warps ? high_at(warp_messages + lane * message_bytes) : 0);
        const int best = argmax.is_ambiguous() ? best_at(warp_messages, warps) : argmax.lane;
        if (static_cast<int>(warp) != best) return;
      }
      // The message is complete in this block's shared memory. Sends it to all blocks.
      constexpr unsigned packs_per_pass = 32 / receivers;  // 16-byte packs; one lane per pack and receiver
      const unsigned first_pack = lane / receivers;
      const bool receiver_exists = lane % receivers < blocks_;
      const unsigned target = receiver_ + message_offset(i, sender_), barrier = receiver_ + barrier_offset(i);
      GAUSSWEEP_UNROLL
      for (unsigned p = 0; p < message_packs; p += packs_per_pass) {
        const unsigned pack_index = min(p + first_pack, message_packs - 1);
        unsigned words[4];
        simt::load_pack(own_message + pack_index * 16, words);
        clear_finished(words, pack_index, slice - i);
        simt::st_async_if(receiver_exists && p + first_pack < message_packs, target + pack_index * 16,
                          barrier, words);
      }
    }
  }
  /// Waits until all candidates for the slice's column i have arrived, and loads the best candidate's
  /// message. Returns false if the choice is ambiguous (WarpArgmax in panel_messages.cuh); the caller must
  /// then call resolve().
  __device__ __forceinline__ bool await(unsigned slice_index, unsigned i, SliceMessage& best) const {
    const unsigned lane = threadIdx.x % 32;
    if constexpr (single_block) {
      __syncthreads();
    } else {
      // An mbarrier completes one phase per slice; the wait takes the parity of the phase.
      simt::mbarrier_wait(base_ + barrier_offset(i), slice_index % 2);
    }
    const unsigned messages = base_ + message_offset(i, 0);
    const WarpArgmax argmax = warp_argmax(lane < senders_ ? high_at(messages + lane * message_bytes) : 0);
    load_message(messages + static_cast<unsigned>(argmax.lane) * message_bytes, best);
    return !argmax.is_ambiguous();
  }
  /// Loads the message of column i's best candidate, chosen by comparing the complete magnitudes.
  __device__ __forceinline__ void resolve(unsigned i, SliceMessage& best) const {
    const unsigned messages = base_ + message_offset(i, 0);
    load_message(messages + static_cast<unsigned>(best_at(messages, senders_)) * message_bytes, best);
  }
  /// Sends the pivot row of the slice's column i, without the columns of finished slices, if this warp owns
  /// the row. @pre the row has its final position
  __device__ __forceinline__ void send_pivot_row(unsigned slice_index, unsigned i, const ThreadRows& v,
                                                 const Positions& position) const {
    const int j = static_cast<int>(slice_index * slice + i);
    bool owns_row = false;
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) owns_row = owns_row || position[s] == j;
    if (__ballot_sync(0xffffffffu, owns_row) == 0) return;
    __syncwarp();  // all lanes have read the previous row
    const unsigned row_offset = static_cast<unsigned>(offsetof(Memory, rows)) + i * row_bytes;
    const unsigned own_row =
        base_ + static_cast<unsigned>(offsetof(Memory, warp_rows)) + threadIdx.x / 32 * row_bytes;
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) {
      if (position[s] != j) continue;
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; c += pack) {
        simt::store_pack((single_block ? base_ + row_offset : own_row) + static_cast<unsigned>(c * sizeof(T)),
                         &v[s][c]);
      }
    }
    if constexpr (!single_block) {
      __syncwarp();
      // Each lane sends 16 bytes; each group of `packs` lanes sends the row to one block.
      constexpr unsigned packs = Columns / pack, blocks_per_pass = 32 / packs;
      const unsigned lane = threadIdx.x % 32;
      const unsigned pack_index = lane % packs;
      unsigned words[4];
      simt::load_pack(own_row + pack_index * 16, words);
      if (pack_index * pack >= Columns - slice_index * slice) return;  // columns of finished slices
      GAUSSWEEP_ROLLED
      for (unsigned r = lane / packs; r < blocks_; r += blocks_per_pass) {
        const unsigned receiver = simt::map_shared_rank(base_, r);
        simt::st_async(receiver + row_offset + pack_index * 16, receiver + barrier_offset(slice), words);
      }
    }
  }
  /// Computes the rows of U right of the slice from the pivot rows, and arms the mbarriers for the next
  /// slice. All warps of the block must call this.
  __device__ __forceinline__ void solve(unsigned slice_index, int cols) const {
    if constexpr (single_block) {
      __syncthreads();
    } else {
      expect_messages(slice_index + 1, cols);
    }
    if (threadIdx.x < 32) {
      if constexpr (!single_block) {
        simt::mbarrier_wait(base_ + barrier_offset(slice), slice_index % 2);
        __syncwarp();
        if (threadIdx.x == 0) expect_rows(slice_index + 1, cols);
      }
      solve_by_warp(slice_index);
    }
    __syncthreads();
  }
  /// Stores the slice's columns of L in shared memory for subtract_product.
  __device__ __forceinline__ void store_lower(unsigned slice_index, const ThreadRows& v,
                                              const Positions& position) const {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < slice; ++k) {
      GAUSSWEEP_UNROLL
      for (int s = 0; s < RowsPerThread; ++s) {
        const bool below = position[s] > static_cast<int>(slice_index * slice) + k;
        simt::store_one(lower_address(k, s), below ? -v[s][k] : T(0));
      }
    }
  }
  /// Subtracts the product of L and U of slice `slice_index` from slice `slice_index` + `Distance` + 1. The
  /// latter is in the `slice` registers of `v` from `Distance` * slice on. (The rows have been rotated left
  /// by all slices up to `slice_index`.)
  template <int Distance>
  __device__ __forceinline__ void subtract_product(unsigned slice_index, ThreadRows& v) const {
    constexpr int first = Distance * slice;
    GAUSSWEEP_ROLLED
    for (int begin = 0; begin < slice; begin += 2) {
      GAUSSWEEP_UNROLL
      for (int k = begin; k < begin + 2; ++k) {
        T factor[RowsPerThread];
        GAUSSWEEP_UNROLL
        for (int s = 0; s < RowsPerThread; ++s) simt::load_one(lower_address(k, s), factor[s]);
        const unsigned row = upper_row_address(slice_index, k);
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
  static constexpr bool single_block = SentBy == Senders::block, by_warp = SentBy == Senders::warps;
  static constexpr unsigned warps = Threads / 32;
  /// The largest number of blocks to which a warp sends; lane l sends to block l % receivers. With
  /// Senders::warps a cluster has at most 32 warps (Memory::max_senders), hence at most 32 / warps blocks.
  static constexpr unsigned receivers = by_warp ? std::min(32 / warps, 16u) : max_cluster_blocks;
  static constexpr unsigned pack = 16 / sizeof(T);  ///< elements in 16 bytes
  static constexpr unsigned message_bytes = sizeof(SliceMessage), message_packs = message_bytes / 16;
  static constexpr unsigned row_bytes = Columns * sizeof(T);

  /// Returns the offset of a sender's message for the slice's column i, in the shared memory of any block.
  __device__ __forceinline__ static unsigned message_offset(unsigned i, unsigned sender) {
    return static_cast<unsigned>(offsetof(Memory, messages)) +
           (i * Memory::max_senders + sender) * message_bytes;
  }
  /// Returns the offset of the barrier for the messages of the slice's column i, or for the pivot rows if i
  /// is `slice`. (Memory::rows_arrived follows Memory::messages_arrived.)
  __device__ __forceinline__ static unsigned barrier_offset(unsigned i) {
    return static_cast<unsigned>(offsetof(Memory, messages_arrived)) + i * 8;
  }
  /// Returns the address of row k of U right of slice `slice_index`.
  __device__ __forceinline__ unsigned upper_row_address(unsigned slice_index, int k) const {
    return base_ + static_cast<unsigned>(offsetof(Memory, upper)) +
           (slice_index % 2 * slice + static_cast<unsigned>(k)) * row_bytes;
  }
  /// Returns the address of the element of the thread's row s in the slice's column k of L.
  __device__ __forceinline__ unsigned lower_address(int k, int s) const {
    return base_ + static_cast<unsigned>(offsetof(Memory, lower)) +
           static_cast<unsigned>((k * RowsPerThread + s) * Threads * static_cast<int>(sizeof(T))) +
           threadIdx.x * static_cast<unsigned>(sizeof(T));
  }

  /// Stores the message of lane `from` of the warp at `address`.
  __device__ __forceinline__ static void store_message(unsigned address, unsigned i, const ThreadRows& v,
                                                       const Positions& position,
                                                       const WarpCandidate<T>& warp_best, int from) {
    const bool best = static_cast<int>(threadIdx.x % 32) == from;
    const unsigned words[4] = {warp_best.of_lane.high, warp_best.of_lane.low,
                               static_cast<unsigned>(warp_best.of_lane.position),
                               warp_best.of_lane.sign_word};
    simt::store_pack_if(best, address, words);
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) {
      const bool stores_row = best && (RowsPerThread == 1 || position[s] == warp_best.of_lane.position);
      GAUSSWEEP_UNROLL
      for (unsigned c = 0; c < slice; c += pack) {
        T elements[pack];
        GAUSSWEEP_UNROLL
        for (unsigned p = 0; p < pack; ++p) {
          elements[p] = !single_block || c + p + i < slice ? v[s][c + p] : T(0);
        }
        if (c == 0) elements[0] = warp_best.minus_inverse;
        simt::store_pack_if(stores_row, address + static_cast<unsigned>(sizeof(Candidate) + c * sizeof(T)),
                            elements);
      }
    }
  }
  /// Sets the elements of finished columns in a message's 16-byte pack `pack_index` to 0. These are the
  /// elements of Message::row from index `unfinished` on.
  __device__ __forceinline__ static void clear_finished(unsigned (&words)[4], unsigned pack_index,
                                                        unsigned unfinished) {
    constexpr unsigned candidate_packs = sizeof(Candidate) / 16, words_per_element = 4 / pack;
    GAUSSWEEP_UNROLL
    for (unsigned w = 0; w < 4; ++w) {
      if (pack_index >= candidate_packs &&
          (pack_index - candidate_packs) * pack + w / words_per_element >= unfinished)
        words[w] = 0;
    }
  }
  __device__ __forceinline__ static void load_message(unsigned address, SliceMessage& message) {
    message.candidate = load_candidate(address);
    GAUSSWEEP_UNROLL
    for (unsigned c = 0; c < slice; c += pack) {
      simt::load_pack(address + static_cast<unsigned>(sizeof(Candidate) + c * sizeof(T)), &message.row[c]);
    }
  }
  /// Returns Candidate::high of the message at `address`.
  __device__ __forceinline__ static unsigned high_at(unsigned address) {
    unsigned high;
    simt::load_one(address, high);
    return high;
  }
  /// Returns the index of the best candidate among `senders` messages at `address`.
  __device__ __forceinline__ static int best_at(unsigned address, unsigned senders) {
    const unsigned lane = threadIdx.x % 32;
    return best_lane(lane < senders ? load_candidate(address + lane * message_bytes) : no_candidate);
  }

  /// Computes the rows of U right of the slice in one warp, one column per lane, by substitution with the
  /// slice's unit lower triangle. Pivot row k was sent after k + 1 steps. Each step shifted its elements in
  /// the slice left by one and appended a finished element. The row's multiplier of column i (i < k) is
  /// therefore at index `slice - 1 - k + i`.
  __device__ __forceinline__ void solve_by_warp(unsigned slice_index) const {
    const unsigned columns = Columns - (slice_index + 1) * slice;
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
      simt::store_one(upper_row_address(slice_index, k) + column * static_cast<unsigned>(sizeof(T)), x[k]);
    }
  }

  /// Arms the mbarriers for the messages of slice `slice_index`, i.e. sets the number of bytes that they
  /// expect. Each thread arms one. A message may arrive before its mbarrier is armed, but only after all
  /// messages of the previous slice. Mbarriers of columns from `cols` on are not armed.
  __device__ __forceinline__ void expect_messages(unsigned slice_index, int cols) const {
    if (threadIdx.x >= slice || static_cast<int>(slice_index * slice + threadIdx.x) >= cols) return;
    simt::mbarrier_arrive_expect_tx(base_ + barrier_offset(threadIdx.x), senders_ * message_bytes);
  }
  /// Arms the mbarrier for the pivot rows of slice `slice_index` if another slice follows.
  __device__ __forceinline__ void expect_rows(unsigned slice_index, int cols) const {
    if (static_cast<int>((slice_index + 1) * slice) >= cols) return;
    simt::mbarrier_arrive_expect_tx(base_ + barrier_offset(slice), slice * (Columns - slice_index * slice) *
                                                                       static_cast<unsigned>(sizeof(T)));
  }

  unsigned base_;      ///< address of ExchangeMemory in the block's shared memory
  unsigned blocks_;    ///< blocks of the cluster
  unsigned sender_;    ///< the index of this warp or block among the senders
  unsigned senders_;   ///< number of senders
  unsigned receiver_;  ///< address of ExchangeMemory in the block to which this lane sends
};

#endif

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu::detail
