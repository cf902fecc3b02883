#pragma once
/// The kernel of trsv/inverted_blocks and of the solves after an LU or Cholesky decomposition. One launch
/// processes block rows that depend on each other. block_chain.cu launches it.
///
/// A sweep is the solve with one triangle: forward or back substitution. A launch has one or two sweeps.
///
/// Right-hand sides form groups of up to eight. The groups do not depend on each other: each has its own
/// thread blocks, counters and segments.
///
/// A block row has 64 rows, the constant `block_order`. A segment of the answer consists of the 64 elements
/// of one block row. A thread block takes the next block row from an atomic counter; the counter's value is
/// its ticket. For each block row, a thread block inverts the 64 x 64 triangle on the diagonal. It multiplies
/// the off-diagonal tiles by finished segments and subtracts the products from the right-hand side. It
/// multiplies the remainder by the inverse, which gives the segment of this block row.
///
/// A thread block publishes a segment: it stores the segment to global memory, where other thread blocks read
/// it. No flag is needed. Before the launch all bits of this memory are set, a pattern that no published
/// number has (`with_canonical_nan`). A consumer polls the values. Polling costs one trip through L2 per
/// block row; a flag would cost two trips and a fence. Tiles do not depend on segments and are prefetched
/// before the wait.
///
/// A thread block waits only for lower tickets, whose thread blocks are running or have finished. Any number
/// of resident thread blocks therefore makes progress, even one. A wait times out after `max_polls` polls:
/// the block row's answer then becomes NaN, all other waits end soon, and info is -1.
///
/// Accuracy. A block row's answer is x = inverse * y, where y is the remainder and u the unit roundoff. Let e
/// = (1, ..., 1), and let g be the largest element of |inverse| |triangle| e. This g is Skeel's condition
/// number, which does not depend on the scaling of rows. The residual of x is of the order g u |x| instead of
/// u |x|. If g is at most `max_uncorrected_condition`, which the caller chooses, x is not corrected.
/// Otherwise the inverse times the residual is added to x, in float twice if needed. Each correction
/// multiplies the error by about g u. If g exceeds correctable_condition() of the maximum number of
/// corrections, they do not suffice; the block row is then solved by substitution, which takes 20
/// microseconds.

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/trsv/block_chain_arguments.cuh"
#include "kernels/trsv/block_chain_exchanges.cuh"
#include "kernels/trsv/block_chain_inverse.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace chain {

/// The shared memory of a thread block.
template <class T, int RhsPerGroup>
struct SharedStorage {
  /// Holds the diagonal triangle, then its inverse in place of the triangle. Once the inverse is in
  /// registers, the same memory holds the warps' sums (sums_of).
  SharedTriangle<T> triangle;
  /// Per warp, the elements of a segment that the warp multiplies by its columns of a tile.
  alignas(16) T staged[warps][RhsPerGroup * columns_per_warp];
  unsigned ticket;
};

/// The distribution of a warp's elements of a segment over its lanes. The elements are RhsPerGroup vectors of
/// `columns_per_warp` elements, one per right-hand side. Slot s of a lane holds element index(lane, s). If
/// there are fewer than 32 elements, `copies` lanes hold the same element.
template <int RhsPerGroup>
struct LaneMap {
  static constexpr int count = columns_per_warp * RhsPerGroup;
  static constexpr int slots = (count + lanes - 1) / lanes;
  static constexpr int copies = count < lanes ? lanes / count : 1;
  __device__ static int index(int lane, int slot) { return lane % count + slot * lanes; }
};

/// The work of one thread block, which processes items until none is left.
/// @tparam RhsPerGroup maximum number of right-hand sides of a group
/// @tparam Depth number of prefetched tiles
/// @tparam HasAdjacentRows true: a lane's two rows are adjacent, so that one access loads both (row_of)
/// @tparam Transposed true: the matrix is the transpose of the stored one
template <class T, int RhsPerGroup, int Depth, bool HasAdjacentRows, bool Transposed>
struct BlockRowSolver {
  using Map = LaneMap<RhsPerGroup>;
  const LaunchArguments<T>& arguments;
  SharedStorage<T, RhsPerGroup>& shared;
  int lane, warp;
  int group;  ///< number of the group of right-hand sides

  /// Returns this group's copy of an array in the workspace.
  template <class U>
  __device__ U* group_copy_of(U* first) const {
    return reinterpret_cast<U*>(reinterpret_cast<std::uintptr_t>(first) + group * arguments.group_bytes);
  }
  __device__ GroupCounters& counters() const { return *group_copy_of(arguments.counters); }
  /// Returns the group's right-hand sides, and their number.
  __device__ T* b() const {
    return arguments.b + static_cast<std::int64_t>(group) * RhsPerGroup * arguments.ldb;
  }
  __device__ int nrhs() const { return min(RhsPerGroup, arguments.nrhs - group * RhsPerGroup); }

  /// Returns the number of matrix rows from the first row of a block row to the end of the matrix.
  __device__ std::int64_t height(int block) const {
    return arguments.n - static_cast<std::int64_t>(block) * block_order;
  }
  /// Returns the block row that a sweep solves in a step. `blocks` is the number of block rows.
  __device__ static int block_of(const Sweep<T>& sweep, int step, int blocks) {
    return sweep.lower ? step : blocks - 1 - step;
  }
  /// Loads the warp's columns of a tile: the elements of block row `block` in matrix columns `column` to
  /// `column` + 7.
  __device__ void load_tile(LaneFragment<T>& fragment, int block, std::int64_t column) const {
    const std::int64_t row = static_cast<std::int64_t>(block) * block_order;
    const T* const first =
        arguments.a + (Transposed ? column + row * arguments.ld : row + column * arguments.ld);
    load<T, HasAdjacentRows, Transposed>(fragment, first, arguments.ld, lane, height(block),
                                         arguments.n - column);
  }
  /// Returns the address of this lane's element of a segment.
  __device__ const T* element_address(const T* segments, int block, int slot) const {
    const int index = Map::index(lane, slot);
    return group_copy_of(segments) +
           (static_cast<std::int64_t>(block) * RhsPerGroup + index / columns_per_warp) * block_order +
           warp * columns_per_warp + index % columns_per_warp;
  }
  /// Loads the warp's values of a segment without waiting; unpublished values have all bits set.
  __device__ void load_values(T (&values)[Map::slots], const T* segments, int block) const {
    GAUSSWEEP_UNROLL
    for (int s = 0; s < Map::slots; ++s) values[s] = simt::load_volatile(element_address(segments, block, s));
  }
  /// Returns true if a wait times out after `polls` polls, or if a wait in another thread block has timed
  /// out.
  __device__ bool times_out(int polls) const {
    if (polls >= arguments.max_polls) {
      simt::store_volatile(&counters().timed_out, 0u);
      return true;
    }
    return polls % 1024 == 1023 && simt::load_volatile(&counters().timed_out) == 0u;
  }
  /// Polls until all of the warp's values are published; after a timeout they become NaN.
  __device__ void await(T (&values)[Map::slots], const T* segments, int block) const {
    for (int polls = 0;; ++polls) {
      bool missing = false;
      GAUSSWEEP_UNROLL
      for (int s = 0; s < Map::slots; ++s) missing = missing || is_unpublished(values[s]);
      if (!__any_sync(all_lanes, missing)) return;
      if (times_out(polls)) break;
      load_values(values, segments, block);
    }
    GAUSSWEEP_UNROLL
    for (int s = 0; s < Map::slots; ++s) values[s] = std::numeric_limits<T>::quiet_NaN();
  }
  /// Copies the warp's values to shared memory for all its lanes.
  __device__ const T* stage(const T (&values)[Map::slots]) const {
    T* const staged = shared.staged[warp];
    __syncwarp();  // no lane still reads the previous values
    GAUSSWEEP_UNROLL
    for (int s = 0; s < Map::slots; ++s) {
      if (Map::copies == 1 || lane < Map::count) staged[Map::index(lane, s)] = values[s];
    }
    __syncwarp();
    return staged;
  }
  /// Loads the warp's eight rows of the right-hand sides. Warp w loads rows 8w to 8w + 7 of block row
  /// `block`, the same indices as its columns of a tile.
  __device__ void load_right_hand_side(T (&values)[Map::slots], const Sweep<T>& sweep, int block) const {
    if (sweep.rhs_segments != nullptr) {
      load_values(values, sweep.rhs_segments, block);
      await(values, sweep.rhs_segments, block);
      return;
    }
    GAUSSWEEP_UNROLL
    for (int s = 0; s < Map::slots; ++s) {
      const int index = Map::index(lane, s);
      const int row = warp * columns_per_warp + index % columns_per_warp;
      const int r = index / columns_per_warp;
      values[s] = row < height(block) && r < nrhs()
                      ? b()[static_cast<std::int64_t>(block) * block_order + row + r * arguments.ldb]
                      : T(0);
    }
  }
  /// Publishes an element of the answer's segment.
  __device__ void publish(const Sweep<T>& sweep, int block, int r, int row, T value) const {
    value = with_canonical_nan(value);
    simt::store_volatile(group_copy_of(sweep.answer_segments) +
                             (static_cast<std::int64_t>(block) * RhsPerGroup + r) * block_order + row,
                         value);
    if (sweep.stores_answer && row < height(block) && r < nrhs()) {
      b()[static_cast<std::int64_t>(block) * block_order + row + r * arguments.ldb] = value;
    }
  }

  /// Loads the diagonal triangle as a lower one; an upper triangle is rotated by 180 degrees. Pads it with an
  /// identity beyond the matrix.
  __device__ void load_triangle(const Sweep<T>& sweep, int block) const {
    const std::int64_t size = height(block);
    const T* const first = arguments.a + static_cast<std::int64_t>(block) * block_order * (arguments.ld + 1);
    constexpr int per_thread = block_order * block_order / threads;
    // p and q are row and column in memory; i and j are row and column of the triangle.
    const int p = static_cast<int>(threadIdx.x) % block_order,
              q0 = static_cast<int>(threadIdx.x) / block_order;
    T elements[per_thread];
    GAUSSWEEP_UNROLL
    for (int k = 0; k < per_thread; ++k) {  // all loads before the first use
      const int q = q0 + k * (block_order / per_thread);
      const int i = Transposed ? q : p, j = Transposed ? p : q;
      const bool off_diagonal = sweep.lower ? i > j : i < j;
      elements[k] = i == j ? T(1) : T(0);
      if (i < size && j < size && (off_diagonal || (i == j && !sweep.unit_diagonal)))
        elements[k] = first[p + q * arguments.ld];
    }
    GAUSSWEEP_UNROLL
    for (int k = 0; k < per_thread; ++k) {
      const int q = q0 + k * (block_order / per_thread);
      const int i = Transposed ? q : p, j = Transposed ? p : q;
      if (i == j && elements[k] == T(0)) {
        atomicMin(&counters().zero_diagonal, static_cast<unsigned>(block * block_order + i + 1));
      }
      shared.triangle.at(sweep.lower ? i : block_order - 1 - i, sweep.lower ? j : block_order - 1 - j) =
          elements[k];
    }
  }

  /// Loads the warp's columns of the diagonal triangle from global memory.
  __device__ void load_own_columns(LaneFragment<T>& fragment, const Sweep<T>& sweep, int block) const {
    load_tile(fragment, block, static_cast<std::int64_t>(block) * block_order + warp * columns_per_warp);
    GAUSSWEEP_UNROLL
    for (int c = 0; c < columns_per_warp; ++c) {
      const int j = warp * columns_per_warp + c;
      GAUSSWEEP_UNROLL
      for (int v = 0; v < rows_per_lane; ++v) {
        const int i = row_of<HasAdjacentRows>(lane, v);
        if (i == j && sweep.unit_diagonal) fragment.value[c][v] = T(1);
        if (sweep.lower ? i < j : i > j) fragment.value[c][v] = T(0);
      }
    }
  }

  /// Loads the warp's columns of the inverse from shared memory. The inverse of an upper triangle is rotated
  /// back.
  __device__ void load_inverse(LaneFragment<T>& fragment, bool lower) const {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < columns_per_warp; ++c) {
      const int j = warp * columns_per_warp + c;
      GAUSSWEEP_UNROLL
      for (int v = 0; v < rows_per_lane; ++v) {
        const int i = row_of<HasAdjacentRows>(lane, v);
        fragment.value[c][v] =
            lower ? shared.triangle.at(i, j) : shared.triangle.at(block_order - 1 - i, block_order - 1 - j);
      }
    }
  }

  /// Number of buffers for the warps' sums. The buffers share memory with `triangle`.
  static constexpr int buffers = 2 * RhsPerGroup * warps * block_order <= block_order * stride ? 2 : 1;
  /// Returns the sums of all warps for right-hand side r. The sums of warp w begin at w * block_order.
  __device__ T* sums_of(int r, int buffer) const {
    return shared.triangle.elements + (buffer % buffers * RhsPerGroup + r) * warps * block_order;
  }
  __device__ void store_sums(const T (&sums)[RhsPerGroup][rows_per_lane], int buffer) const {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < RhsPerGroup; ++r) {
      GAUSSWEEP_UNROLL
      for (int v = 0; v < rows_per_lane; ++v) {
        sums_of(r, buffer)[warp * block_order + row_of<HasAdjacentRows>(lane, v)] = sums[r][v];
      }
    }
  }
  /// Stores the sums and waits until all warps have stored theirs.
  __device__ void exchange_sums(const T (&sums)[RhsPerGroup][rows_per_lane], int buffer) const {
    if (buffers == 1) __syncthreads();  // no thread still reads the previous sums
    store_sums(sums, buffer);
    __syncthreads();
  }
  /// Returns the total of `count` warps' sums for this row, from warp `from` on, added pairwise.
  template <int count>
  __device__ static T total(const T* sums, int from, int row) {
    if constexpr (count == 1) {
      return sums[from * block_order + row];
    } else {
      return total<count / 2>(sums, from, row) + total<count / 2>(sums, from + count / 2, row);
    }
  }
  static constexpr bool add = false, subtract = true;  ///< arguments for `negated`
  /// Adds the sums of all warps to `values`, or subtracts them. In warp w, `values` holds rows 8w to 8w + 7.
  /// Lanes that hold the same element each add the sums of some warps.
  template <bool negated>
  __device__ void add_totals(T (&values)[Map::slots], int buffer) const {
    GAUSSWEEP_UNROLL
    for (int s = 0; s < Map::slots; ++s) {
      const int index = Map::index(lane, s);
      constexpr int per_thread = warps / Map::copies;
      T sum =
          total<per_thread>(sums_of(index / columns_per_warp, buffer), lane / Map::count * per_thread % warps,
                            warp * columns_per_warp + index % columns_per_warp);
      // Adds the partial sums of the `copies` lanes that hold the same element.
      GAUSSWEEP_UNROLL
      for (int distance = Map::count; distance < lanes; distance *= 2) {
        sum += __shfl_xor_sync(all_lanes, sum, distance);
      }
      values[s] += negated ? -sum : sum;
    }
  }

  /// Publishes the segment x after one or more corrections x += inverse (y - triangle x). x begins as the
  /// total of the warps' `sums`.
  __device__ void publish_corrected(const Sweep<T>& sweep, int block, const LaneFragment<T>& triangle,
                                    const LaneFragment<T>& inverse, const T (&y)[Map::slots],
                                    const T (&sums)[RhsPerGroup][rows_per_lane], int corrections) const {
    exchange_sums(sums, 1);
    T x[Map::slots] = {};
    add_totals<add>(x, 1);
    GAUSSWEEP_UNROLL
    for (int count = 0; count < max_corrections<T>; ++count) {
      if (count > 0 && count == corrections) break;  // `corrections` is at least 1
      T product[RhsPerGroup][rows_per_lane] = {}, correction[RhsPerGroup][rows_per_lane] = {},
        remainder[Map::slots];
      multiply<T, RhsPerGroup>(triangle, stage(x), product);
      exchange_sums(product, 0);
      GAUSSWEEP_UNROLL
      for (int s = 0; s < Map::slots; ++s) remainder[s] = y[s];
      add_totals<subtract>(remainder, 0);
      multiply<T, RhsPerGroup>(inverse, stage(remainder), correction);
      exchange_sums(correction, 1);
      add_totals<add>(x, 1);
    }
    GAUSSWEEP_UNROLL
    for (int s = 0; s < Map::slots; ++s) {
      const int index = Map::index(lane, s);
      if (Map::copies > 1 && lane >= Map::count) continue;
      publish(sweep, block, index / columns_per_warp, warp * columns_per_warp + index % columns_per_warp,
              x[s]);
    }
  }

  /// Subtracts the warps' sums from the right-hand sides and solves with the diagonal triangle by
  /// substitution. One warp processes one right-hand side.
  __device__ void substitute(const Sweep<T>& sweep, int block) const {
    if (warp >= RhsPerGroup) return;
    const int r = warp;
    const std::int64_t size = height(block);
    T y[rows_per_lane];
    GAUSSWEEP_UNROLL
    for (int v = 0; v < rows_per_lane; ++v) {
      const int row = row_of<HasAdjacentRows>(lane, v);
      T value = 0;
      if (sweep.rhs_segments != nullptr) {  // complete: every warp has waited for its part
        value = simt::load_volatile(group_copy_of(sweep.rhs_segments) +
                                    (static_cast<std::int64_t>(block) * RhsPerGroup + r) * block_order + row);
      } else if (row < size && r < nrhs()) {
        value = b()[static_cast<std::int64_t>(block) * block_order + row + r * arguments.ldb];
      }
      y[v] = value - total<warps>(sums_of(r, 0), 0, row);
    }
    // Each step processes a group of `columns_per_warp` columns.
    const auto group_of = [&](int step) { return sweep.lower ? step : warps - 1 - step; };
    const auto load_group = [&](LaneFragment<T>& fragment, int group) {
      load_tile(fragment, block, static_cast<std::int64_t>(block) * block_order + group * columns_per_warp);
    };
    LaneFragment<T> next;
    load_group(next, group_of(0));
    for (int step = 0; step < warps; ++step) {
      const LaneFragment<T> fragment = next;
      if (step + 1 < warps) load_group(next, group_of(step + 1));
      GAUSSWEEP_UNROLL
      for (int k = 0; k < columns_per_warp; ++k) {
        T column[rows_per_lane];
        GAUSSWEEP_UNROLL
        for (int v = 0; v < rows_per_lane; ++v) {
          column[v] = sweep.lower ? fragment.value[k][v] : fragment.value[columns_per_warp - 1 - k][v];
        }
        const int j = group_of(step) * columns_per_warp + (sweep.lower ? k : columns_per_warp - 1 - k);
        const bool has_second_row = HasAdjacentRows ? j % rows_per_lane == 1 : j >= lanes;
        const T pivot = sweep.unit_diagonal || j >= size ? T(1) : (has_second_row ? column[1] : column[0]);
        const T quotient = (has_second_row ? y[1] : y[0]) / pivot;
        const T x = __shfl_sync(all_lanes, quotient, HasAdjacentRows ? j / rows_per_lane : j % lanes);
        GAUSSWEEP_UNROLL
        for (int v = 0; v < rows_per_lane; ++v) {
          const int row = row_of<HasAdjacentRows>(lane, v);
          if (row == j) {
            y[v] = x;
          } else if (sweep.lower ? row > j : row < j) {
            y[v] = std::fma(-column[v], x, y[v]);
          }
        }
      }
    }
    GAUSSWEEP_UNROLL
    for (int v = 0; v < rows_per_lane; ++v) publish(sweep, block, r, row_of<HasAdjacentRows>(lane, v), y[v]);
  }

  /// Solves the block row that a sweep processes in step `step`.
  __device__ void solve_row(const Sweep<T>& sweep, int step) const {
    const int block = block_of(sweep, step, arguments.block_rows);
    // Loads the warp's columns of the tile in block column `column_block`.
    const auto load_tile_at = [&](LaneFragment<T>& fragment, int column_block) {
      load_tile(fragment, block,
                static_cast<std::int64_t>(column_block) * block_order + warp * columns_per_warp);
    };
    const auto block_at = [&](int s) { return block_of(sweep, s, arguments.block_rows); };
    // The segment of step - 1 is published last. Its tile is loaded first and multiplied after all other
    // tiles.
    LaneFragment<T> last_tile, prefetched[Depth];
    T prefetched_values[Depth][Map::slots];
    if (step > 0) load_tile_at(last_tile, block_at(step - 1));
    GAUSSWEEP_UNROLL
    for (int d = 0; d < Depth; ++d) {
      if (d < step - 1) {
        load_tile_at(prefetched[d], block_at(d));
        load_values(prefetched_values[d], sweep.answer_segments, block_at(d));
      }
    }
    load_triangle(sweep, block);
    __syncthreads();
    const int corrections = shared.triangle.invert(arguments.max_uncorrected_condition);

    // Multiplies all tiles but the last one, in the order in which their segments are published. After each
    // product, the tile of `Depth` steps later is prefetched.
    T sums[RhsPerGroup][rows_per_lane] = {};
    for (int s = 0; s < step - 1; s += Depth) {
      GAUSSWEEP_UNROLL
      for (int d = 0; d < Depth; ++d) {
        if (s + d >= step - 1) break;
        await(prefetched_values[d], sweep.answer_segments, block_at(s + d));
        multiply<T, RhsPerGroup>(prefetched[d], stage(prefetched_values[d]), sums);
        if (s + d + Depth < step - 1) {
          load_tile_at(prefetched[d], block_at(s + d + Depth));
          load_values(prefetched_values[d], sweep.answer_segments, block_at(s + d + Depth));
        }
      }
    }

    LaneFragment<T> inverse, triangle;
    load_inverse(inverse, sweep.lower);
    if (corrections > 0) load_own_columns(triangle, sweep, block);
    T values[Map::slots];
    load_right_hand_side(values, sweep, block);
    __syncthreads();  // the inverse is in registers; its memory is reused for sums
    if (step > 0) {
      T latest[Map::slots];
      load_values(latest, sweep.answer_segments, block_at(step - 1));
      await(latest, sweep.answer_segments, block_at(step - 1));
      multiply<T, RhsPerGroup>(last_tile, stage(latest), sums);
    }
    // Solves with the diagonal triangle: values = right-hand side - sums, solved = inverse * values.
    store_sums(sums, 0);
    __syncthreads();
    if (corrections > max_corrections<T>) return substitute(sweep, block);
    add_totals<subtract>(values, 0);
    T solved[RhsPerGroup][rows_per_lane] = {};
    multiply<T, RhsPerGroup>(inverse, stage(values), solved);
    if (corrections > 0) {
      return publish_corrected(sweep, block, triangle, inverse, values, solved, corrections);
    }
    exchange_sums(solved, 1);
    for (int k = static_cast<int>(threadIdx.x); k < RhsPerGroup * block_order; k += threads) {
      publish(sweep, block, k / block_order, k % block_order,
              total<warps>(sums_of(k / block_order, 1), 0, k % block_order));
    }
  }

  /// Publishes b after the row exchanges, segment by segment.
  __device__ void permute() const {
    static_assert(sizeof(shared.triangle.quarters) >= 2 * block_order * sizeof(int),
                  "quarters must hold the source rows of two segments");
    exchange_rows<T, RhsPerGroup>(
        arguments.n, nrhs(), b(), arguments.ldb, arguments.pivots, group_copy_of(arguments.permuted_rhs),
        reinterpret_cast<int*>(shared.triangle.elements),
        static_cast<int>(block_order * stride * sizeof(T) / sizeof(int)),
        group_copy_of(arguments.source_rows), reinterpret_cast<int*>(shared.triangle.quarters));
  }

  __device__ int items() const {
    return arguments.sweeps * arguments.block_rows + (arguments.pivots != nullptr ? 1 : 0);
  }

  /// Processes items until none is left. The first item is the row exchanges, if there are any.
  __device__ void work() const {
    for (;;) {
      if (threadIdx.x == 0) shared.ticket = atomicAdd(&counters().ticket, 1u) + 1u;
      __syncthreads();
      int item = static_cast<int>(shared.ticket);
      if (item >= items()) return;
      if (arguments.pivots != nullptr) --item;
      if (item < 0) {
        permute();
      } else {
        solve_row(arguments.sweep[item / arguments.block_rows], item % arguments.block_rows);
      }
      __syncthreads();  // no thread still uses the ticket or shared memory
      if (threadIdx.x == 0) finish_item();
    }
  }
  /// Sets info after the last item.
  __device__ void finish_item() const {
    if (arguments.info == nullptr) return;
    __threadfence();
    // `finished_items` starts at -1 and does not include this item yet.
    if (atomicAdd(&counters().finished_items, 1u) + 2u != static_cast<unsigned>(items())) return;
    __threadfence();
    const unsigned zero = simt::load_volatile(&counters().zero_diagonal);
    if (simt::load_volatile(&counters().timed_out) == 0u) {
      *arguments.info = -1;
    } else if (zero != unset_counter) {
      *arguments.info = static_cast<int>(zero);
    }
  }
};

/// Runs a BlockRowSolver in each thread block. There is at most one thread block per multiprocessor.
template <class T, int RhsPerGroup, int Depth, bool HasAdjacentRows, bool Transposed = false>
__global__ void __launch_bounds__(threads, 1) solve_chain(LaunchArguments<T> arguments) {
  __shared__ SharedStorage<T, RhsPerGroup> shared;
  const int t = static_cast<int>(threadIdx.x);
  const int group = RhsPerGroup == 8 ? static_cast<int>(blockIdx.y) : 0;  // other launches have one group
  BlockRowSolver<T, RhsPerGroup, Depth, HasAdjacentRows, Transposed>{arguments, shared, t % lanes, t / lanes,
                                                                     group}
      .work();
}

}  // namespace chain
}  // namespace gaussweep::GAUSSWEEP_BACKEND
