#pragma once
/// The arguments of a launch of tile_chain.cuh, and the shared memory of its thread blocks.

#include "kernels/potrf/tile_factor.cuh"
#include "kernels/potrf/tile_schedule.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

constexpr unsigned finished = 1u << 30;  ///< the state of a tile that belongs to the factor
constexpr int stages = 4;                ///< buffers for k slices in shared memory; five are slower
/// The arguments of one launch. Counts and indices are in tiles, counted from the first diagonal tile of the
/// launch. Before the launch, all bits of the mailboxes and of the flags (states, ticket, timed_out) are set.
template <class T>
struct LaunchArguments {
  T* a;  ///< the first diagonal tile, column-major with leading dimension `ld` (in elements)
  std::int64_t ld;
  int rows, columns;
  int tail_rows;  ///< tile rows that remain where the tail columns begin (Schedule)
  T* mailboxes;   ///< mailboxes of the diagonal tiles (tile_factor.cuh), mailbox_size elements each
  /// Each tile's state (tile_chain.cuh) minus 1, so that all bits set mean state 0. The leading dimension is
  /// `states_ld`.
  unsigned* states;
  std::int64_t states_ld;
  unsigned* ticket;     ///< the last ticket that was taken; initially -1 as a signed number
  unsigned* timed_out;  ///< one flag per factorisation: 0 after a wait has timed out
  int first_column;     ///< the launch's first column in the matrix, in elements
  bool by_division;     ///< true: the first eight columns are factored as in LAPACK (factor_8_columns)
  int* info;
  int max_polls;  ///< the number of polls after which a wait times out

  __device__ T* tile(int i, int j) const { return global(a + i * tile_order + j * (tile_order * ld)); }
  __device__ unsigned* state(int i, int j) const { return global(states + i + j * states_ld); }
  /// Returns the mailbox of diagonal tile j.
  __device__ T* mailbox(int j) const {
    return global(mailboxes + j * static_cast<std::int64_t>(mailbox_size));
  }
};

/// A thread block's shared memory.
/// @tparam GroupsPerUpdate as for Schedule
template <class T, int GroupsPerUpdate>
struct SharedStorage {
  static constexpr int elements = stages * TileProduct<T, 2 * tile_order, 2 * tile_order, 4>::slice_elements;
  static_assert(tile_order * stride_of<T>(2 * tile_order) + tile_order * triangle_stride +
                        shared_inverse_elements <=
                    elements,
                "after the products, the solver's data replace the k slices");
  alignas(16) T storage[elements];
  T reciprocals[tile_order];
  LaunchArguments<T> arguments;
  Schedule<GroupsPerUpdate> schedule;  ///< used by the thread that takes tickets
  Task task;
  /// Per column of tiles that updates change, the number of warps that have added their sums, over all
  /// updates.
  unsigned finished_warps[2];
  /// Masks of ready operand tiles, by which the first warp informs the others (ReadyTiles in tile_chain.cuh),
  /// one bit per tile. Elements 0 and 1 serve even and odd k slices, so that a slow warp can still read the
  /// previous mask. Element 2 is the mask at the start of a task, element 3 the one after
  /// ReadyTiles::wait_for().
  unsigned ready_masks[4];

  // After the products, the data of a solve replace the k slices.
  /// Returns the 64 or 128 rows to solve, with leading dimension stride_of(number of rows).
  __device__ T* solved() { return storage; }
  /// Returns the triangle of a diagonal tile.
  __device__ T* triangle() { return storage + tile_order * stride_of<T>(2 * tile_order); }
  /// Returns the inverses of the triangle's 8 x 8 diagonal tiles.
  __device__ T* inverses() { return triangle() + tile_order * triangle_stride; }
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
