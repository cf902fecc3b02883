#pragma once
/// The kernel of trsv/inverted_blocks and of the solves after an LU decomposition: a chain of block rows in
/// one launch. `block_chain.cu` starts it and says what it is for.
///
/// A block takes block rows of 64 by ticket. For each it inverts the 64 x 64 triangle on the diagonal. It
/// adds up the products of the tiles beside that with those pieces of the answer that are there. At last it
/// multiplies the rest of the right-hand side by the inverse: that is its piece of the answer. A piece is
/// handed on without a flag. All bits of the place for it are set before the launch, which no number that is
/// written has (presentable). So a reader polls the values themselves. That is one trip through the L2 cache
/// from block to block, where a flag would cost two and a fence. A tile does not depend on any piece, so it
/// is loaded before the piece is waited for.
///
/// A block waits for lower tickets only, whose blocks run or have run. The chain goes on however few blocks
/// the device holds at once, also one after another. A wait ends after `patience` polls: the row then has
/// NaN, all other waits end soon, and info is -1.
///
/// Accuracy. x = inverse * y has a residual of the order g u |x| in place of u |x|. Here g = max |inverse|
/// |triangle| e (Skeel's condition number, indifferent to the scale of rows). Up to a bound that the caller
/// gives, x is taken as it is. Beyond it x is corrected by the inverse times the residual, in float twice if
/// need be. A correction leaves some g u of the error. Where they are not enough (most_corrected) a row is
/// solved by substitution, which costs it 20 microseconds.

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/trsv/block_chain_exchanges.cuh"
#include "kernels/trsv/block_chain_inverse.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace chain {

/// Where all start with all bits set.
struct Control {
  unsigned ticket;     ///< the one taken last
  unsigned done;       ///< items that are done, less 1
  unsigned zero;       ///< the smallest i, from 1, with a(i, i) = 0
  unsigned abandoned;  ///< 0 after a wait that was given up
};

/// One triangle to be solved. Its block rows come in the order in which their answers follow from each other.
template <class T>
struct Sweep {
  bool lower;
  bool unit;        ///< ones on the diagonal, whatever is stored there
  const T* source;  ///< pieces of the right-hand side; null: those in b
  T* pieces;        ///< of the answer
  bool last;        ///< the answer goes into b too
};

/// Pieces: element i of right-hand side r is at [(i / order * R + r) * order + i % order].
template <class T>
struct Chain {
  std::int64_t n;
  int nrhs;    ///< at most the kernel's R
  int blocks;  ///< block rows of a sweep
  int sweeps;
  const T* a;
  std::int64_t ld;
  T* b;
  std::int64_t ldb;
  const int* pivots;  ///< LAPACK's, from 1: the rows of b are exchanged first; null: they are not
  int* sources;       ///< with pivots: n numbers, all bits set
  T* permuted;        ///< with pivots: the pieces of b afterwards
  Sweep<T> sweep[2];
  Control* control;
  int* info;      ///< may be null
  int patience;   ///< polls after which a wait is given up
  float trusted;  ///< up to this condition number an inverse's answer is not corrected
};

template <class T, int R>
struct Shared {
  Square<T> square;  ///< the diagonal's triangle and inverse; then sums of warps
  alignas(16) T staged[warps][R * columns];
  unsigned ticket;
};

/// What belongs to a warp's columns of a piece, spread over its lanes: columns x R numbers, c fastest. With
/// fewer than 32 of them each is in several lanes.
template <int R>
struct Spread {
  static constexpr int count = columns * R;
  static constexpr int slots = (count + lanes - 1) / lanes;
  static constexpr int copies = count < lanes ? lanes / count : 1;
  __device__ static int index(int lane, int slot) { return lane % count + slot * lanes; }
};

/// One block's view of the chain.
template <class T, int R, int Depth, bool Paired>
struct Worker {
  using S = Spread<R>;
  const Chain<T>& chain;
  Shared<T, R>& shared;
  int lane, warp;

  __device__ std::int64_t height(int block) const {
    return chain.n - static_cast<std::int64_t>(block) * order;
  }
  __device__ static int block_of(const Sweep<T>& sweep, int step, int blocks) {
    return sweep.lower ? step : blocks - 1 - step;
  }
  /// Where this lane's numbers of a piece are.
  __device__ const T* place(const T* pieces, int block, int slot) const {
    const int index = S::index(lane, slot);
    return pieces + (static_cast<std::int64_t>(block) * R + index / columns) * order + warp * columns +
           index % columns;
  }
  __device__ void peek(T (&numbers)[S::slots], const T* pieces, int block) const {
    GAUSSWEEP_UNROLL
    for (int s = 0; s < S::slots; ++s) numbers[s] = simt::load_volatile(place(pieces, block, s));
  }
  __device__ bool lose_patience(int polls) const {
    if (polls >= chain.patience) {
      simt::store_volatile(&chain.control->abandoned, 0u);
      return true;
    }
    return polls % 1024 == 1023 && simt::load_volatile(&chain.control->abandoned) == 0u;
  }
  /// Polls until none of the warp's numbers is absent.
  __device__ void await(T (&numbers)[S::slots], const T* pieces, int block) const {
    for (int polls = 0;; ++polls) {
      bool missing = false;
      GAUSSWEEP_UNROLL
      for (int s = 0; s < S::slots; ++s) missing = missing || is_absent(numbers[s]);
      if (!__any_sync(all_lanes, missing)) return;
      if (lose_patience(polls)) break;
      peek(numbers, pieces, block);
    }
    GAUSSWEEP_UNROLL
    for (int s = 0; s < S::slots; ++s) numbers[s] = std::numeric_limits<T>::quiet_NaN();
  }
  /// Makes the warp's numbers known to all its lanes.
  __device__ const T* stage(const T (&numbers)[S::slots]) const {
    T* const staged = shared.staged[warp];
    __syncwarp();  // all have read what was staged before
    GAUSSWEEP_UNROLL
    for (int s = 0; s < S::slots; ++s) {
      if (S::copies == 1 || lane < S::count) staged[S::index(lane, s)] = numbers[s];
    }
    __syncwarp();
    return staged;
  }
  /// The right-hand side of the warp's columns.
  __device__ void right_hand_side(T (&numbers)[S::slots], const Sweep<T>& sweep, int block) const {
    if (sweep.source != nullptr) {
      peek(numbers, sweep.source, block);
      await(numbers, sweep.source, block);
      return;
    }
    GAUSSWEEP_UNROLL
    for (int s = 0; s < S::slots; ++s) {
      const int index = S::index(lane, s);
      const int row = warp * columns + index % columns;
      const int r = index / columns;
      numbers[s] = row < height(block) && r < chain.nrhs
                       ? chain.b[static_cast<std::int64_t>(block) * order + row + r * chain.ldb]
                       : T(0);
    }
  }
  __device__ void publish(const Sweep<T>& sweep, int block, int r, int row, T value) const {
    value = presentable(value);
    simt::store_volatile(sweep.pieces + (static_cast<std::int64_t>(block) * R + r) * order + row, value);
    if (sweep.last && row < height(block) && r < chain.nrhs) {
      chain.b[static_cast<std::int64_t>(block) * order + row + r * chain.ldb] = value;
    }
  }

  /// The triangle on the diagonal, as a lower one: an upper one is turned by half a turn. Beyond the matrix
  /// it is continued by an identity.
  __device__ void load_triangle(const Sweep<T>& sweep, int block) const {
    const std::int64_t size = height(block);
    const T* const first = chain.a + static_cast<std::int64_t>(block) * order * (chain.ld + 1);
    constexpr int share = order * order / threads;
    const int i = static_cast<int>(threadIdx.x) % order, j0 = static_cast<int>(threadIdx.x) / order;
    T values[share];
    GAUSSWEEP_UNROLL
    for (int k = 0; k < share; ++k) {  // all loads before the first use
      const int j = j0 + k * (order / share);
      const bool beside = sweep.lower ? i > j : i < j;
      values[k] = i == j ? T(1) : T(0);
      if (i < size && j < size && (beside || (i == j && !sweep.unit))) values[k] = first[i + j * chain.ld];
    }
    GAUSSWEEP_UNROLL
    for (int k = 0; k < share; ++k) {
      const int j = j0 + k * (order / share);
      if (i == j && values[k] == T(0)) {
        atomicMin(&chain.control->zero, static_cast<unsigned>(block * order + i + 1));
      }
      shared.square.at(sweep.lower ? i : order - 1 - i, sweep.lower ? j : order - 1 - j) = values[k];
    }
  }

  /// The warp's columns of the triangle on the diagonal.
  __device__ void load_own_columns(Slice<T>& slice, const Sweep<T>& sweep, int block) const {
    const std::int64_t size = height(block);
    const T* const first = chain.a + static_cast<std::int64_t>(block) * order * (chain.ld + 1);
    load<T, Paired>(slice, first + warp * columns * chain.ld, chain.ld, lane, size, size - warp * columns);
    GAUSSWEEP_UNROLL
    for (int c = 0; c < columns; ++c) {
      const int j = warp * columns + c;
      GAUSSWEEP_UNROLL
      for (int v = 0; v < rows; ++v) {
        const int i = row_of<Paired>(lane, v);
        if (i == j && sweep.unit) slice.value[c][v] = T(1);
        if (sweep.lower ? i < j : i > j) slice.value[c][v] = T(0);
      }
    }
  }

  /// The warp's columns of the inverse, turned back.
  __device__ void load_inverse(Slice<T>& slice, bool lower) const {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < columns; ++c) {
      const int j = warp * columns + c;
      GAUSSWEEP_UNROLL
      for (int v = 0; v < rows; ++v) {
        const int i = row_of<Paired>(lane, v);
        slice.value[c][v] = lower ? shared.square.at(i, j) : shared.square.at(order - 1 - i, order - 1 - j);
      }
    }
  }

  /// Where the sums of warps for right-hand side r are: sums[w * order + row].
  static constexpr int sets = 2 * R * warps * order <= order * stride ? 2 : 1;
  __device__ T* sums_of(int r, int set) const {
    return shared.square.elements + (set % sets * R + r) * warps * order;
  }
  __device__ void give_sums(const T (&sums)[R][rows], int set) const {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; ++r) {
      GAUSSWEEP_UNROLL
      for (int v = 0; v < rows; ++v) {
        sums_of(r, set)[warp * order + row_of<Paired>(lane, v)] = sums[r][v];
      }
    }
  }
  /// The same; others' sums are there then.
  __device__ void exchange_sums(const T (&sums)[R][rows], int set) const {
    if (sets == 1) __syncthreads();  // all have read what was there before
    give_sums(sums, set);
    __syncthreads();
  }
  /// The sum of `count` warps' sums from warp `from` on, by halves.
  template <int count>
  __device__ static T total(const T* sums, int from, int row) {
    if constexpr (count == 1) {
      return sums[from * order + row];
    } else {
      return total<count / 2>(sums, from, row) + total<count / 2>(sums, from + count / 2, row);
    }
  }
  /// Adds the sums of all warps to numbers for the warp's columns, or subtracts them.
  template <bool negated>
  __device__ void add_totals(T (&numbers)[S::slots], int set) const {
    GAUSSWEEP_UNROLL
    for (int s = 0; s < S::slots; ++s) {
      const int index = S::index(lane, s);
      constexpr int share = warps / S::copies;
      T sum = total<share>(sums_of(index / columns, set), lane / S::count * share % warps,
                           warp * columns + index % columns);
      GAUSSWEEP_UNROLL
      for (int distance = S::count; distance < lanes; distance *= 2) {
        sum += __shfl_xor_sync(all_lanes, sum, distance);
      }
      numbers[s] += negated ? -sum : sum;
    }
  }

  /// A piece of the answer, corrected: x + inverse (y - triangle x). Of y and of the sums for x each warp has
  /// its own.
  __device__ void publish_corrected(const Sweep<T>& sweep, int block, const Slice<T>& triangle,
                                    const Slice<T>& inverse, const T (&y)[S::slots], const T (&sums)[R][rows],
                                    int corrections) const {
    exchange_sums(sums, 1);
    T x[S::slots] = {};
    add_totals<false>(x, 1);
    GAUSSWEEP_UNROLL
    for (int count = 0; count < most_corrections<T>; ++count) {
      if (count > 0 && count == corrections) break;
      T product[R][rows] = {}, correction[R][rows] = {}, rest[S::slots];
      multiply<T, R>(triangle, stage(x), product);
      exchange_sums(product, 0);
      GAUSSWEEP_UNROLL
      for (int s = 0; s < S::slots; ++s) rest[s] = y[s];
      add_totals<true>(rest, 0);
      multiply<T, R>(inverse, stage(rest), correction);
      exchange_sums(correction, 1);
      add_totals<false>(x, 1);
    }
    GAUSSWEEP_UNROLL
    for (int s = 0; s < S::slots; ++s) {
      const int index = S::index(lane, s);
      if (S::copies > 1 && lane >= S::count) continue;
      publish(sweep, block, index / columns, warp * columns + index % columns, x[s]);
    }
  }

  /// Substitution in the diagonal's triangle, a warp a right-hand side, from the sums of the warps.
  __device__ void substitute(const Sweep<T>& sweep, int block) const {
    if (warp >= R) return;
    const int r = warp;
    const std::int64_t size = height(block);
    T y[rows];
    GAUSSWEEP_UNROLL
    for (int v = 0; v < rows; ++v) {
      const int row = row_of<Paired>(lane, v);
      T value = 0;
      if (sweep.source != nullptr) {  // all of it is there: every warp has waited for its columns
        value = simt::load_volatile(sweep.source + (static_cast<std::int64_t>(block) * R + r) * order + row);
      } else if (row < size && r < chain.nrhs) {
        value = chain.b[static_cast<std::int64_t>(block) * order + row + r * chain.ldb];
      }
      y[v] = value - total<warps>(sums_of(r, 0), 0, row);
    }
    const T* const first = chain.a + static_cast<std::int64_t>(block) * order * (chain.ld + 1);
    const auto group_of = [&](int step) { return sweep.lower ? step : warps - 1 - step; };
    const auto load_group = [&](Slice<T>& slice, int group) {
      load<T, Paired>(slice, first + static_cast<std::int64_t>(group) * columns * chain.ld, chain.ld, lane,
                      size, size - group * columns);
    };
    Slice<T> next;
    load_group(next, group_of(0));
    for (int step = 0; step < warps; ++step) {
      const Slice<T> slice = next;
      if (step + 1 < warps) load_group(next, group_of(step + 1));
      GAUSSWEEP_UNROLL
      for (int k = 0; k < columns; ++k) {
        T column[rows];
        GAUSSWEEP_UNROLL
        for (int v = 0; v < rows; ++v) {
          column[v] = sweep.lower ? slice.value[k][v] : slice.value[columns - 1 - k][v];
        }
        const int j = group_of(step) * columns + (sweep.lower ? k : columns - 1 - k);
        const bool second = Paired ? j % rows == 1 : j >= lanes;
        const T pivot = sweep.unit || j >= size ? T(1) : (second ? column[1] : column[0]);
        const T quotient = (second ? y[1] : y[0]) / pivot;
        const T x = __shfl_sync(all_lanes, quotient, Paired ? j / rows : j % lanes);
        GAUSSWEEP_UNROLL
        for (int v = 0; v < rows; ++v) {
          const int row = row_of<Paired>(lane, v);
          if (row == j) {
            y[v] = x;
          } else if (sweep.lower ? row > j : row < j) {
            y[v] = std::fma(-column[v], x, y[v]);
          }
        }
      }
    }
    GAUSSWEEP_UNROLL
    for (int v = 0; v < rows; ++v) publish(sweep, block, r, row_of<Paired>(lane, v), y[v]);
  }

  /// Block row number `step` of a sweep.
  __device__ void solve_row(const Sweep<T>& sweep, int step) const {
    const int block = block_of(sweep, step, chain.blocks);
    const T* const line = chain.a + static_cast<std::int64_t>(block) * order;
    const auto load_tile = [&](Slice<T>& slice, int other) {
      const std::int64_t column = static_cast<std::int64_t>(other) * order + warp * columns;
      load<T, Paired>(slice, line + column * chain.ld, chain.ld, lane, height(block), chain.n - column);
    };
    const auto other_of = [&](int s) { return block_of(sweep, s, chain.blocks); };
    Slice<T> last, ahead[Depth];
    T numbers_ahead[Depth][S::slots];
    if (step > 0) load_tile(last, other_of(step - 1));
    GAUSSWEEP_UNROLL
    for (int d = 0; d < Depth; ++d) {
      if (d < step - 1) {
        load_tile(ahead[d], other_of(d));
        peek(numbers_ahead[d], sweep.pieces, other_of(d));
      }
    }
    load_triangle(sweep, block);
    __syncthreads();
    const int corrections = shared.square.invert(chain.trusted);

    T sums[R][rows] = {};
    for (int s = 0; s < step - 1; s += Depth) {
      GAUSSWEEP_UNROLL
      for (int d = 0; d < Depth; ++d) {
        if (s + d >= step - 1) break;
        await(numbers_ahead[d], sweep.pieces, other_of(s + d));
        multiply<T, R>(ahead[d], stage(numbers_ahead[d]), sums);
        if (s + d + Depth < step - 1) {
          load_tile(ahead[d], other_of(s + d + Depth));
          peek(numbers_ahead[d], sweep.pieces, other_of(s + d + Depth));
        }
      }
    }

    Slice<T> inverse, triangle;
    load_inverse(inverse, sweep.lower);
    if (corrections > 0) load_own_columns(triangle, sweep, block);
    T numbers[S::slots];
    right_hand_side(numbers, sweep, block);
    __syncthreads();  // the inverse is in registers: its place is free for sums
    if (step > 0) {
      T latest[S::slots];
      peek(latest, sweep.pieces, other_of(step - 1));
      await(latest, sweep.pieces, other_of(step - 1));
      multiply<T, R>(last, stage(latest), sums);
    }
    give_sums(sums, 0);
    __syncthreads();
    if (corrections > most_corrections<T>) return substitute(sweep, block);
    add_totals<true>(numbers, 0);
    T solved[R][rows] = {};
    multiply<T, R>(inverse, stage(numbers), solved);
    if (corrections > 0) {
      return publish_corrected(sweep, block, triangle, inverse, numbers, solved, corrections);
    }
    exchange_sums(solved, 1);
    for (int k = static_cast<int>(threadIdx.x); k < R * order; k += threads) {
      publish(sweep, block, k / order, k % order, total<warps>(sums_of(k / order, 1), 0, k % order));
    }
  }

  /// b after the exchanges, piece by piece.
  __device__ void permute() const {
    static_assert(sizeof(shared.square.quarters) >= 2 * order * sizeof(int), "no room for two pieces");
    exchange_rows<T, R>(chain.n, chain.nrhs, chain.b, chain.ldb, chain.pivots, chain.permuted,
                        reinterpret_cast<int*>(shared.square.elements),
                        static_cast<int>(order * stride * sizeof(T) / sizeof(int)), chain.sources,
                        reinterpret_cast<int*>(shared.square.quarters));
  }

  __device__ int items() const { return chain.sweeps * chain.blocks + (chain.pivots != nullptr ? 1 : 0); }

  /// One item after another, until there is none.
  __device__ void work() const {
    for (;;) {
      if (threadIdx.x == 0) shared.ticket = atomicAdd(&chain.control->ticket, 1u) + 1u;
      __syncthreads();
      int item = static_cast<int>(shared.ticket);
      if (item >= items()) return;
      if (chain.pivots != nullptr) --item;
      if (item < 0) {
        permute();
      } else {
        solve_row(chain.sweep[item / chain.blocks], item % chain.blocks);
      }
      __syncthreads();  // also: all have read the ticket and are done with shared memory
      if (threadIdx.x == 0) finish_item();
    }
  }
  /// The last one tells what was found.
  __device__ void finish_item() const {
    if (chain.info == nullptr) return;
    __threadfence();
    if (atomicAdd(&chain.control->done, 1u) + 2u != static_cast<unsigned>(items())) return;
    __threadfence();
    const unsigned zero = simt::load_volatile(&chain.control->zero);
    if (simt::load_volatile(&chain.control->abandoned) == 0u) {
      *chain.info = -1;
    } else if (zero != unset) {
      *chain.info = static_cast<int>(zero);
    }
  }
};

template <class T, int R, int Depth, bool Paired>
__global__ void __launch_bounds__(threads, 1) solve_chain(Chain<T> chain) {
  __shared__ Shared<T, R> shared;
  const int t = static_cast<int>(threadIdx.x);
  Worker<T, R, Depth, Paired>{chain, shared, t % lanes, t / lanes}.work();
}

}  // namespace chain
}  // namespace gaussweep::GAUSSWEEP_BACKEND
