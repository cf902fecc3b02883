#pragma once
/// What a launch of tile_chain.cuh is told, and what its blocks have in shared memory.

#include "kernels/potrf/tile_factor.cuh"
#include "kernels/potrf/tile_schedule.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

constexpr unsigned finished = 1u << 30;
constexpr int pieces = 4;  ///< in shared memory
/// One launch. Counts and indices of tiles; elements are those of the part that it factors. Of what is handed
/// on and of the words all bits are set at the start.
template <class T>
struct Chain {
  T* a;
  std::int64_t ld;
  int rows, columns;
  int rows_of_tail;  ///< of Schedule
  T* handed;         ///< of the diagonal's tiles, handed_size a column
  unsigned* states;  ///< less 1; column by column, `states_ld` apart
  std::int64_t states_ld;
  unsigned* ticket;     ///< the last one taken
  unsigned* abandoned;  ///< of the whole factorisation: 0 after a wait that was given up
  int before;           ///< columns of the matrix left of these
  int* info;
  int patience;  ///< polls after which a wait is given up

  __device__ T* tile(int i, int j) const { return global(a + i * order + j * (order * ld)); }
  __device__ unsigned* state(int i, int j) const { return global(states + i + j * states_ld); }
  __device__ T* triangle(int j) const { return global(handed + j * static_cast<std::int64_t>(handed_size)); }
};

/// @tparam Together of Schedule
template <class T, int Together>
struct ChainMemory {
  static constexpr int elements = pieces * TileProduct<T, 2 * order, 2 * order, 4>::piece;
  static_assert(order * stride_of<T>(2 * order) + order * triangle_stride + inverses_in_shared <= elements,
                "after the products the rest lies where the pieces did");
  alignas(16) T room[elements];
  T reciprocals[order];
  Chain<T> chain;
  Schedule<Together> schedule;  ///< of the thread that takes tickets
  Task task;
  unsigned added[2];  ///< how often a warp has added its share of an update, for each column of tiles
  unsigned open[4];   ///< of a task's operands: seen by a piece, by turns; at the beginning; after a wait

  /// After the products: rows to be solved (of 64 or 128, stride_of them apart), the triangle, its inverses.
  __device__ T* solved() { return room; }
  __device__ T* triangle() { return room + order * stride_of<T>(2 * order); }
  __device__ T* inverses() { return triangle() + order * triangle_stride; }
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
