#pragma once
/// Products of 8-bit matrices modulo p on Hopper's tensor cores. One launch computes them for all moduli of a
/// product by residues (residue_products.cuh).
///
/// For each modulus p, the kernel computes C (m x n) = A^T B modulo p, where A is k x m and B is k x n. All
/// matrices are column-major. While cuBLAS would store sums of 4 bytes, this kernel reduces the sums modulo p
/// in registers and stores one byte per element. One launch for all moduli fills the GPU even if C has few
/// tiles.
///
/// A thread block computes tiles of 256 rows and 128 columns of C. The two blocks of a cluster compute
/// neighbouring columns and share the tile of A: each block loads half of the tile and multicasts it to both.
/// One producer thread per block loads tiles with 128 bytes of k into a ring buffer. Two consumer warpgroups
/// multiply 64 columns each. They compute the transpose C^T = B^T A, so that the left operand of wgmma is B.
/// Each thread then has accumulators of neighbouring rows in one column of C. Blocks process tiles modulus by
/// modulus, and within a modulus in groups of 2048 columns. The operands of concurrent tiles then fit in the
/// L2 cache.

#include <algorithm>

#include "kernels/gemm/residue_steps.cuh"
#include "kernels/simt/cuda_tensor.cuh"

namespace gaussweep::cuda::residues {

namespace byte_tiles {
constexpr int tile_rows = 256, tile_columns = 128;  ///< a block's tile of C
constexpr int tile_depth = 128;                     ///< the k range of a stage
constexpr int cluster_size = 2;                     ///< blocks of a cluster, which share a tile of A
/// Cluster tiles (256 x 256 elements of C, computed by the two blocks of a cluster) next to each other in a
/// group of 2048 columns.
constexpr int cluster_tiles_per_group = 8;
constexpr int stages = 4;
constexpr int warpgroup_threads = 128, consumer_warpgroups = 2;
constexpr int b_stage_bytes = tile_columns * tile_depth, stage_bytes = b_stage_bytes + tile_rows * tile_depth;
constexpr int box_bytes = 64 * 128;          ///< residues that one store moves: 64 columns of 128 rows
constexpr int result_bytes = 2 * box_bytes;  ///< residues of a consumer warpgroup: 64 columns of 256 rows
constexpr int alignment = 1024;              ///< bytes; the alignment of swizzled boxes in shared memory
/// The last term is for the mbarriers: two of 8 bytes per stage.
constexpr int shared_bytes =
    alignment + stages * stage_bytes + consumer_warpgroups * result_bytes + 2 * stages * 8;
}  // namespace byte_tiles

/// The position of a block's tile: the index of the modulus, and the tile's first row and column in C.
struct ByteTileCoord {
  int modulus, row, column;
};

/// Numbers the cluster tiles of all moduli. A cluster processes every (number of clusters)th tile.
struct ByteTileScheduler {
  int row_tiles, column_tiles, moduli;  ///< column_tiles: number of cluster tiles in a row of tiles
  __host__ __device__ int count() const { return row_tiles * column_tiles * moduli; }
  /// Returns the half of cluster tile `index` that the cluster's block `rank` computes. Within a group of
  /// columns, tiles are numbered along the rows of tiles.
  __device__ ByteTileCoord at(int index, int rank) const {
    using namespace byte_tiles;
    const int per_modulus = row_tiles * column_tiles, modulus = index / per_modulus;
    index %= per_modulus;
    const int first = index / (cluster_tiles_per_group * row_tiles) * cluster_tiles_per_group,
              width = min(cluster_tiles_per_group, column_tiles - first);
    index -= first * row_tiles;
    return {modulus, index / width * tile_rows,
            ((first + index % width) * cluster_size + rank) * tile_columns};
  }
};

#if GAUSSWEEP_WGMMA

/// A block's shared memory: a ring buffer of stages, the residues of both consumer warpgroups, and mbarriers.
struct ByteSharedStorage {
  unsigned ring, results, barriers;
  __device__ __forceinline__ explicit ByteSharedStorage(unsigned begin)
      : ring((begin + byte_tiles::alignment - 1) / byte_tiles::alignment * byte_tiles::alignment),
        results(ring + byte_tiles::stages * byte_tiles::stage_bytes),
        barriers(results + byte_tiles::consumer_warpgroups * byte_tiles::result_bytes) {}
  /// Return the addresses of a stage's tiles. The tile of B comes first; then comes the tile of A, whose
  /// columns give rows of C.
  __device__ __forceinline__ unsigned b_tile(int stage) const {
    return ring + stage * byte_tiles::stage_bytes;
  }
  __device__ __forceinline__ unsigned a_tile(int stage) const {
    return b_tile(stage) + byte_tiles::b_stage_bytes;
  }
  /// Return the mbarriers of a stage: `full` completes when the tiles are loaded, `empty` when the consumers
  /// of both blocks have read them.
  __device__ __forceinline__ unsigned full(int stage) const { return barriers + 8 * stage; }
  __device__ __forceinline__ unsigned empty(int stage) const {
    return barriers + 8 * (byte_tiles::stages + stage);
  }
};

/// The stage that a producer or consumer uses next, and the parity of its phase.
struct BytePipelineState {
  int index = 0;
  unsigned parity = 0;
  __device__ __forceinline__ void advance() {
    index = (index + 1) % byte_tiles::stages;
    parity ^= index == 0;
  }
};

/// Loads all k slices of a C tile into the stages. One thread of the block calls it.
__device__ __forceinline__ void load_stages(const ByteSharedStorage& memory, const CUtensorMap& a,
                                            const CUtensorMap& b, const ByteTileCoord& tile, int rank,
                                            int depth_steps, BytePipelineState& stage) {
  using namespace byte_tiles;
  constexpr int half = tile_rows / cluster_size;
  const auto own_block = static_cast<unsigned short>(1u << rank);  // multicast mask: bit r selects block r
  constexpr unsigned all_blocks = (1u << cluster_size) - 1;
  for (int k = 0; k < depth_steps; ++k, stage.advance()) {
    const unsigned full = memory.full(stage.index);
    // All stages are empty at first: a wait for the parity before the first phase returns at once.
    simt::mbarrier_wait(memory.empty(stage.index), stage.parity ^ 1);
    simt::mbarrier_arrive_expect_tx(full, stage_bytes);
    simt::copy_box(memory.b_tile(stage.index), b, full, k * tile_depth, tile.column, tile.modulus, own_block);
    simt::copy_box(memory.a_tile(stage.index) + rank * half * tile_depth, a, full, k * tile_depth,
                   tile.row + rank * half, tile.modulus, all_blocks);
  }
}

/// Computes the sums of a consumer warpgroup: 64 columns and all rows of the C tile. In the warpgroup's w-th
/// warp, a lane's sums[4 j + 2 h + e] belongs to row 8 j + 2 (lane % 4) + e and column 16 w + 8 h + lane / 4
/// (byte_product in cuda_tensor.cuh).
__device__ __forceinline__ void multiply_stages(const ByteSharedStorage& memory, int consumer,
                                                int depth_steps, BytePipelineState& stage,
                                                int (&sums)[byte_tiles::tile_rows / 2]) {
  using namespace byte_tiles;
  const auto release = [&](int read_stage) {  // signals `empty` in both blocks
    const unsigned target_rank = threadIdx.x % warpgroup_threads;
    if (target_rank < cluster_size)
      simt::mbarrier_arrive_remote(simt::map_shared_rank(memory.empty(read_stage), target_rank));
  };
  int previous = 0;
  for (int k = 0; k < depth_steps; ++k, stage.advance()) {
    simt::mbarrier_wait(memory.full(stage.index), stage.parity);
    const std::uint64_t left = simt::byte_operand(memory.b_tile(stage.index) + consumer * 64 * tile_depth);
    const std::uint64_t right = simt::byte_operand(memory.a_tile(stage.index));
    simt::fence_products();
    // A wgmma multiplies 32 bytes of k. Descriptors count in units of 16 bytes, so that 2 * part skips them.
    GAUSSWEEP_UNROLL
    for (int part = 0; part < tile_depth / 32; ++part)
      simt::byte_product(sums, left + 2 * part, right + 2 * part, k > 0 || part > 0);
    simt::commit_products();
    if (k > 0) {
      simt::await_products<1>();
      release(previous);
    }
    previous = stage.index;
  }
  simt::await_products<0>();
  GAUSSWEEP_UNROLL
  for (int& sum : sums) asm volatile("" : "+r"(sum)::"memory");  // the compiler moves no use above the wait
  release(previous);
}

/// Writes a consumer's residues to shared memory, in two boxes of 64 columns and 128 rows. A thread has the
/// residues of two neighbouring rows. It exchanges such pairs with a neighbouring lane, so that it stores
/// four residues at a time.
__device__ __forceinline__ void stage_residues(const int (&sums)[byte_tiles::tile_rows / 2],
                                               const Reduction& reduction, unsigned result) {
  using namespace byte_tiles;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const bool odd = lane % 2 != 0;
  GAUSSWEEP_UNROLL
  for (int row_block = 0; row_block < tile_rows / 8; row_block += 2) {  // blocks of 8 rows
    GAUSSWEEP_UNROLL
    for (int column_half = 0; column_half < 2; ++column_half) {  // columns 0 to 7 or 8 to 15 of the warp
      const auto pair = [&](int eight_rows) {                    // the residues of two neighbouring rows
        const int first = eight_rows * 4 + column_half * 2;
        return residue_of(sums[first], reduction) | residue_of(sums[first + 1], reduction) << 8;
      };
      // An even lane gets four rows of block row_block; its odd neighbour gets those of the next block.
      const unsigned lower = pair(row_block), upper = pair(row_block + 1);
      const unsigned received = __shfl_xor_sync(0xffffffffu, odd ? lower : upper, 1);
      const unsigned four = odd ? received | upper << 16 : lower | received << 16;
      const int row = (row_block + lane % 2) * 8 + lane % 4 / 2 * 4,
                column = warp * 16 + column_half * 8 + lane / 4;
      // A box has 128 bytes per column. Its 128-byte swizzle XORs bits 4 to 6 of a row with the column
      // modulo 8.
      const unsigned offset = row / 128 * box_bytes + column * 128 + ((row % 128) ^ (column % 8 * 16));
      asm volatile("st.shared.b32 [%0], %1;" ::"r"(result + offset), "r"(four) : "memory");
    }
  }
}

#endif

/// Computes the residues of C for all tiles.
/// @param a, b, c tensor maps of the operands, with one matrix of residues per modulus
/// @param depth_steps number of k tiles
/// @tparam Int always int: the kernel is a template so that several files may include its definition
template <class Int>
__global__ void __launch_bounds__((1 + byte_tiles::consumer_warpgroups) * byte_tiles::warpgroup_threads, 1)
    multiply_residues(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                      const __grid_constant__ CUtensorMap c, ByteTileScheduler tiles, Int depth_steps,
                      ModulusTable table) {
#if GAUSSWEEP_WGMMA
  using namespace byte_tiles;
  const ByteSharedStorage memory(simt::shared_address(simt::dynamic_shared<unsigned char>()));
  const int rank = static_cast<int>(simt::cluster_rank()), thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (int stage = 0; stage < stages; ++stage) {
      simt::mbarrier_init(memory.full(stage));
      simt::mbarrier_init(memory.empty(stage), consumer_warpgroups * cluster_size);
    }
    simt::fence_mbarrier_init();
  }
  simt::cluster_arrive();
  simt::cluster_wait();
  simt::griddepcontrol_wait();
  const int first_tile = static_cast<int>(blockIdx.x) / cluster_size,
            step = static_cast<int>(gridDim.x) / cluster_size;
  BytePipelineState stage;
  if (thread < warpgroup_threads) {
    simt::setmaxnreg_dec<40>();
    for (int index = first_tile; thread == 0 && index < tiles.count(); index += step)
      load_stages(memory, a, b, tiles.at(index, rank), rank, depth_steps, stage);
  } else {
    simt::setmaxnreg_inc<232>();  // 128 * 40 + 256 * 232 registers of the multiprocessor's 65536
    const int consumer = thread / warpgroup_threads - 1;
    const bool leads = thread % warpgroup_threads == 0;
    const unsigned result = memory.results + consumer * result_bytes;
    int sums[tile_rows / 2];
    for (int index = first_tile; index < tiles.count(); index += step) {
      const ByteTileCoord tile = tiles.at(index, rank);
      multiply_stages(memory, consumer, depth_steps, stage, sums);
      if (leads) simt::await_box_reads();  // until the stores of the previous tile have read `result`
      simt::warpgroup_barrier(1 + consumer);
      stage_residues(sums, table.reduction[tile.modulus], result);
      simt::fence_shared_for_copies();
      simt::warpgroup_barrier(1 + consumer);
      if (leads) {
        for (int box = 0; box < 2; ++box)
          simt::store_box(c, result + box * box_bytes, tile.row + box * 128, tile.column + consumer * 64,
                          tile.modulus);
        simt::end_box_stores();
      }
    }
    if (leads) simt::await_box_stores();
  }
  simt::cluster_arrive();  // no block ends while the other one may still arrive at its mbarriers
  simt::cluster_wait();
#endif
}

/// Computes C_l = A_l^T B_l modulo moduli[l] for all moduli of `table`. A_l has k x m bytes, B_l k x n, and
/// C_l m x n; the matrices of one operand follow one another. Asynchronous.
/// @pre has_wgmma(context); m, n and k are multiples of 16, and k is at most max_inner_size
inline void multiply_modulo(Context& context, const ModulusTable& table, std::int64_t m, std::int64_t n,
                            std::int64_t k, signed char* a, signed char* b, unsigned char* c) {
  using namespace byte_tiles;
  const auto tiles_of = [](std::int64_t size, int tile) {
    return static_cast<int>((size + tile - 1) / tile);
  };
  const ByteTileScheduler tiles{tiles_of(m, tile_rows), tiles_of(n, cluster_size * tile_columns),
                                table.count};
  const int clusters = std::min(tiles.count(), std::max(1, simt::multiprocessors(context) / cluster_size));
  simt::launch_clusters(context, multiply_residues<int>, cluster_size, static_cast<unsigned>(clusters),
                        dim3((1 + consumer_warpgroups) * warpgroup_threads), shared_bytes,
                        simt::byte_matrices(a, k, m, table.count, tile_rows / cluster_size),
                        simt::byte_matrices(b, k, n, table.count, tile_columns),
                        simt::byte_matrices(c, m, n, table.count, 64), tiles, tiles_of(k, tile_depth), table);
}

}  // namespace gaussweep::cuda::residues
