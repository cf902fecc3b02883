#pragma once
/// The arguments of the kernels in block_chain.cuh and small_solve.cuh. block_chain.cuh defines the terms.

#include <cstddef>
#include <cstdint>

#include "kernels/trsv/block_chain_tiles.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::chain {

/// The counters of a group. A thread block takes items of work. An item is one block row of a sweep, or all
/// row exchanges. All bits of the counters are set before the launch, so that `ticket` and `finished_items`
/// start at -1.
struct GroupCounters {
  unsigned ticket;          ///< the last ticket that was taken; tickets are indices of items
  unsigned finished_items;  ///< number of finished items, minus 1
  unsigned zero_diagonal;   ///< the smallest i, from 1, with a(i, i) = 0
  unsigned timed_out;       ///< 0 after a wait has timed out, else all bits set
};

/// A solve with one triangle. Its block rows are processed in the order of substitution. The kernel for small
/// systems uses only the first two members.
template <class T>
struct Sweep {
  bool lower;
  bool unit_diagonal;     ///< the stored diagonal is not read
  const T* rhs_segments;  ///< null if the right-hand side is in b
  T* answer_segments;
  bool stores_answer;  ///< also stores the answer in b
};

constexpr int max_sweeps = 2;

/// The arguments of the kernel. RhsPerGroup is the maximum number of right-hand sides of a group. In an array
/// of segments, element i of right-hand side r has the index (i / block_order * RhsPerGroup + r) *
/// block_order + i % block_order.
template <class T>
struct LaunchArguments {
  std::int64_t n;
  int nrhs;        ///< right-hand sides of all groups
  int block_rows;  ///< block rows of a sweep
  int sweeps;
  const T* a;
  std::int64_t ld;
  T* b;
  std::int64_t ldb;
  const int* pivots;  ///< LAPACK's pivots, from 1, by which the rows of b are exchanged first, or null
  int* source_rows;   ///< with pivots: n ints for the row permutation, all bits set before the launch
  T* permuted_rhs;    ///< with pivots: the segments of b after the exchanges
  Sweep<T> sweep[max_sweeps];
  GroupCounters* counters;
  /// Distance in bytes of the groups' copies of `counters` and of the arrays in the workspace. The pointers
  /// are those of group 0.
  std::size_t group_bytes;
  int* info;      ///< may be null
  int max_polls;  ///< polls after which a wait times out
  /// A solution is not corrected if its diagonal triangle has at most this condition number g.
  float max_uncorrected_condition;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::chain
