#pragma once
/// What a launch of the trailing update is told: update.cuh.

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

namespace gaussweep::cuda::lu {

/// Multiprocessors that a launch leaves to others: bit %smid.
struct ReservedMultiprocessors {
  unsigned word[5];

  __host__ __device__ bool has(unsigned id) const {
    return id < 160 && ((word[id / 32] >> (id % 32)) & 1u) != 0;
  }
};

/// What all launches of one job share, set to 0 by the caller before the first of them.
struct UpdateCounters {
  unsigned next_tile;
  unsigned started;  ///< blocks that have begun to work; only where multiprocessors are reserved
};

/// One product C -= A B: A m x k, B k x n, C m x n, by columns.
struct UpdateProduct {
  CUtensorMap a, b, c;
  double* c_data;
  int ldc;
  int rows, columns, slabs;  ///< of C; of 16 in k
  int tile_rows, tile_columns;
};

/// What a launch does: the tiles of one product, or of two, one after the other.
struct UpdateJob {
  UpdateProduct product[2];
  UpdateCounters* counters;
  unsigned first_tiles, tiles;  ///< of the first product, of both
  int group_columns;            ///< tile columns that are done together, row by row
  int lead;                     ///< slabs that a group of warps is ahead of the next one; 0: as it comes
  int prefetch;                 ///< whether tiles of C are brought to L2 in advance
  int hints;                    ///< 0: none, 1: C leaves L2 first, 2: A and B leave it last, too
  unsigned wanted;              ///< blocks that the multiprocessors not reserved hold
  unsigned patience;            ///< ns that a block on a reserved one waits for those to start, 0: not at all
  ReservedMultiprocessors reserved;
};

/// How a block divides a tile. Groups of 4 warps, 2 x 2, each warp WarpRows x WarpColumns.
/// @tparam Blocks a multiprocessor
/// @tparam Inner of the instruction, 8 or 16
/// @tparam Stages of the ring
/// @tparam Buffers for fragments of B: 2, or 1 (each is loaded anew as soon as its last product is under way)
template <int Blocks, int GroupsDown, int GroupsAcross, int WarpRows, int WarpColumns, int Inner, int Stages,
          int Buffers>
struct UpdateShape {
  static constexpr int slab = 16;
  static constexpr int blocks = Blocks;
  static constexpr int groups_down = GroupsDown;
  static constexpr int groups = GroupsDown * GroupsAcross;
  static constexpr int warps = 4 * groups;
  static constexpr int threads = 32 * (warps + 4);  // one of the last four warps loads
  // Registers a thread: as many for all at the start; then the last four warps give theirs to the others.
  static constexpr int registers_at_start = 65536 / (Blocks * threads) / 8 * 8;
  static constexpr int registers_of_loader = WarpRows * WarpColumns > 2048 ? 24 : 32;
  static constexpr int registers_of_others =
      std::min((registers_at_start * threads - 128 * registers_of_loader) / (32 * warps) / 8 * 8, 240);
  static constexpr int warp_rows = WarpRows;
  static constexpr int warp_columns = WarpColumns;
  static constexpr int rows = 2 * WarpRows * GroupsDown;
  static constexpr int columns = 2 * WarpColumns * GroupsAcross;
  static constexpr int inner = Inner;
  static constexpr int stages = Stages;
  static constexpr int buffers = Buffers;
  static constexpr int tiles_down = WarpRows / 16;
  static constexpr int tiles_across = WarpColumns / 8;
  static constexpr int stage_bytes = (rows + columns) * slab * 8;
  static constexpr int announced =
      16;  // tiles told of; the loader is at most as many ahead as there are stages
  static constexpr int shared_bytes =
      stages * stage_bytes + 1024 + 640;  // 1024: to begin at a multiple of it
  static constexpr int prefetch_parts = 8;

  static_assert(Inner == 8 || Inner == 16, "instructions that this is written for");
  static_assert(WarpRows % 16 == 0 && WarpColumns % 8 == 0 && columns % prefetch_parts == 0, "whole tiles");
  static_assert(slab / Inner * tiles_down % 2 == 0, "fragments of A take turns in two buffers");
  static_assert(Buffers == 1 || slab / Inner == 2, "fragments of B take turns in two buffers");
  static_assert(2 * Stages < announced && rows <= 256 && columns <= 256,
                "limits of the ring and of the boxes");
};

}  // namespace gaussweep::cuda::lu
