#pragma once
/// The arguments of a launch of tile_chain.cuh, and the shared memory of its blocks.

#include "kernels/potrf/tile_factor.cuh"
#include "kernels/potrf/tile_schedule.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

constexpr unsigned finished = 1u << 30;
constexpr int stages = 4;  ///< k slices in shared memory
/// One launch. Counts and indices are in tiles; the origin is the part that the launch factors. All bits of
/// the mailboxes and of the flags are set at the start.
template <class T>
struct Chain {
  T* a;
  std::int64_t ld;
  int rows, columns;
  int rows_of_tail;  ///< for Schedule
  T* mailboxes;      ///< mailboxes of the diagonal tiles, mailbox_size elements each
  unsigned* states;  ///< each tile's state (tile_chain.cuh) - 1, column by column with stride `states_ld`
  std::int64_t states_ld;
  unsigned* ticket;     ///< the last ticket that was taken
  unsigned* abandoned;  ///< one flag per factorisation: 0 after a time-out
  int before;           ///< columns of the matrix left of this part
  bool in_order;        ///< for factor_8_columns
  int* info;
  int max_polls;  ///< the number of polls after which a wait times out

  __device__ T* tile(int i, int j) const { return global(a + i * order + j * (order * ld)); }
  __device__ unsigned* state(int i, int j) const { return global(states + i + j * states_ld); }
  __device__ T* triangle(int j) const {
    return global(mailboxes + j * static_cast<std::int64_t>(mailbox_size));
  }
};

/// A block's shared memory. @tparam GroupsPerUpdate as for Schedule
template <class T, int GroupsPerUpdate>
struct ChainMemory {
  static constexpr int elements = stages * TileProduct<T, 2 * order, 2 * order, 4>::slice_elements;
  static_assert(order * stride_of<T>(2 * order) + order * triangle_stride + inverses_in_shared <= elements,
                "after the products, the solver's data replace the k slices");
  alignas(16) T room[elements];
  T reciprocals[order];
  Chain<T> chain;
  Schedule<GroupsPerUpdate> schedule;  ///< used by the thread that takes tickets
  Task task;
  unsigned added[2];  ///< per column of tiles, the number of additions by warps
  unsigned open[4];   ///< masks of finished operands: of alternate slices; at the start; after a wait

  /// After the products: the rows to solve (64 or 128, leading dimension stride_of), the triangle and its
  /// inverses.
  __device__ T* solved() { return room; }
  __device__ T* triangle() { return room + order * stride_of<T>(2 * order); }
  __device__ T* inverses() { return triangle() + order * triangle_stride; }
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
