#pragma once
/// Products in double on tensor cores in which A or B is triangular. The method trtri/levels needs C = factor
/// A B for its recursion levels (levels.cuh). The method poinv/recursive needs C = P P^T with a triangular P.
///
/// Tiles: a thread block computes one C tile of 128 x 128 elements, or of 64 x 64 if there are few C tiles.
/// The k loop covers only the k range in which the triangle is nonzero. If there are few C tiles, the two
/// thread blocks of a cluster compute one C tile, each with half of the k range.
///
/// Warps: four producer warps copy k tiles of depth 16 to a ring buffer in shared memory. Eight or four
/// consumer warps multiply. A warp tile has half of the C tile's rows. A consumer warp waits for producers
/// but not for other consumers. Eight consumer warps saturate a multiprocessor with one thread block. Four
/// consumer warps make fewer loads from shared memory, which are the bottleneck if there are many thread
/// blocks. Producer warps give registers to consumer warps (setmaxnreg). Code for sm_90 lacks that
/// instruction and takes 2.5 times as long as code for sm_90a (measured on one H100, n = 8192).
///
/// Shared memory: k tiles have the same contiguous index as global memory. It is the row in A, and k in B (in
/// P P^T, the column of B = P^T). Each load reads two neighbouring elements: two rows of a fragment of A, or
/// two k indices of B (in P P^T, columns of two fragments).
///
/// Fragments: in the mma layout, lane 4g + t has rows g and g + 8 of A's fragment, and column g of B's. Here
/// the lane loads rows 2g and 2g + 1 of the same 16 rows instead, which are adjacent in memory. Two fragments
/// of B share 16 columns: the first has the even columns, the second the odd ones. The lane's sums have the
/// same permutation (LargeTileMainloop::for_pairs).

#include <cmath>
#include <cstdint>

#include "kernels/potrf/tile_memory.cuh"
#include "kernels/trtri/level_products.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

constexpr int large_depth = 16;  ///< depth of a k tile
/// The smallest number of 128 x 128 tiles with which a level, or P P^T, is faster than with 64 x 64 tiles
/// (measured on one H100).
constexpr int min_large_tiles_of_level = 200;
constexpr int min_large_tiles_of_square = 276;
/// From this k on, two thread blocks share a C tile in levels with few tiles (measured on one H200).
constexpr int min_split_k_of_level = 500;

/// The layout of an operand's k tile in shared memory: `Lines` rows of A or columns of B, and a k range of
/// 16.
/// @tparam KContiguous true if k is the contiguous index; false if the row of A or the column of B is
/// contiguous
template <bool KContiguous, int Lines>
struct LargeKTile {
  static constexpr int length = KContiguous ? large_depth : Lines;  ///< extent of the contiguous index
  static constexpr int width = KContiguous ? Lines : large_depth;   ///< extent of the other index
  /// The leading dimension. The padding avoids bank conflicts when fragments are loaded.
  static constexpr int stride = KContiguous ? length + 4 : length + 2;
  static constexpr int elements = width * stride;
};

constexpr int producer_warps = 4;  ///< the last warps of a thread block

/// The producer warps' iterator over an operand's k tiles in global memory. `copy` copies one k tile to
/// shared memory. It sets elements beyond the k range to 0. It skips rows of A and columns of B beyond the
/// matrix, because their stale values in shared memory contribute only to sums that are not stored.
/// @tparam ConsumerWarps number of consumer warps, the first warps of a block
template <bool KContiguous, int Lines, int ConsumerWarps>
class LargeTileLoader {
  using KTile = LargeKTile<KContiguous, Lines>;

 public:
  /// @param source address of the first k tile
  /// @param line_count rows of A or columns of B in the matrix, counted from `source`
  /// @param k_count length of the k range, counted from `source`
  /// @param k_step distance to the next k tile along k
  __device__ __forceinline__ LargeTileLoader(const double* source, std::int64_t ld, int line_count,
                                             int k_count, int k_step)
      : source_(source), ld_(ld), line_count_(line_count), remaining_k_(k_count), k_step_(k_step) {}
  /// Starts the copies of the current k tile and advances to the next one.
  __device__ __forceinline__ void copy(double* k_tile) {
    if (line_count_ < Lines || remaining_k_ < large_depth) {
      copy</*ElementsPerCopy=*/1, /*IsFullTile=*/false>(k_tile);
    } else if (reinterpret_cast<std::uintptr_t>(source_) % 16 == 0 && ld_ % 2 == 0) {
      copy</*ElementsPerCopy=*/2, /*IsFullTile=*/true>(k_tile);
    } else {
      copy</*ElementsPerCopy=*/1, /*IsFullTile=*/true>(k_tile);
    }
    source_ += KContiguous ? k_step_ : k_step_ * ld_;
    remaining_k_ -= k_step_;
  }

 private:
  /// @tparam ElementsPerCopy elements per copy instruction, one or two
  template <int ElementsPerCopy, bool IsFullTile>
  __device__ __forceinline__ void copy(double* k_tile) const {
    // A column of the k tile (along the contiguous index) consists of `packs` packs of ElementsPerCopy
    // elements, which `lanes` lanes copy. A warp copies `columns` columns per step.
    constexpr int packs = KTile::length / ElementsPerCopy, lanes = packs < 32 ? packs : 32;
    constexpr int columns = 32 / lanes;
    constexpr int steps_in_flight = 4, columns_per_warp = steps_in_flight * columns;
    const int lane = static_cast<int>(threadIdx.x) % 32, first = lane % lanes * ElementsPerCopy;
    const int warp = static_cast<int>(threadIdx.x) / 32 - ConsumerWarps;
    GAUSSWEEP_ROLLED
    for (int column = warp * columns_per_warp + lane / lanes; column < KTile::width;
         column += producer_warps * columns_per_warp) {
      const double* source = source_ + first + column * ld_;
      double* const lane_target = k_tile + first + column * KTile::stride;
      GAUSSWEEP_UNROLL
      for (int k = 0; k < steps_in_flight; ++k) {
        GAUSSWEEP_UNROLL
        for (int offset = 0; offset < KTile::length; offset += lanes * ElementsPerCopy) {
          double* const target = lane_target + offset + k * columns * KTile::stride;
          if constexpr (ElementsPerCopy == 2) {
            simt::copy_16_bytes_through_l1(target, source + offset);
          } else {
            const int contiguous_index = first + offset, column_index = column + k * columns;
            const bool line_exists =
                IsFullTile || (KContiguous ? column_index : contiguous_index) < line_count_;
            const bool in_k_range =
                IsFullTile || (KContiguous ? contiguous_index : column_index) < remaining_k_;
            if (line_exists) simt::copy_or_zero(target, source + offset, in_k_range);
          }
        }
        source += columns * ld_;
      }
    }
  }

  const double* source_;
  std::int64_t ld_;
  int line_count_, remaining_k_, k_step_;
};

/// The sizes of the ring buffer in shared memory. Each stage has a k tile of A, a k tile of B, and two
/// mbarriers of 8 bytes. The mbarriers follow the k tiles of all stages. More stages are not faster: copies
/// use the L1 cache, which shrinks as shared memory grows.
/// @tparam Order order of the C tile
/// @tparam Square true for P P^T
template <int Order, bool Square>
struct LargeRingBuffer {
  using A = LargeKTile<false, Order>;
  using B = LargeKTile<!Square, Order>;
  static constexpr int stage_elements = A::elements + B::elements;
  static constexpr int stages = 4;
  static constexpr std::size_t bytes = stages * (sizeof(double) * stage_elements + 16);
};

#if GAUSSWEEP_CLUSTERS

/// The mainloop of a C tile. Producer warps call `copy`. Consumer warps call `add`, which computes the
/// accumulators.
/// @tparam Order order of the C tile, 128 or 64
/// @tparam Square true for P P^T, where the column of B = P^T is the contiguous index instead of k
/// @tparam Warps number of consumer warps, the first warps of a block
template <int Order, bool Square, int Warps>
class LargeTileMainloop : LargeRingBuffer<Order, Square> {
  using Ring = LargeRingBuffer<Order, Square>;
  using Ring::stage_elements, Ring::stages;
  using typename Ring::A, typename Ring::B;

 public:
  /// Initialises the mbarriers. The caller must call __syncthreads before any other function.
  __device__ __forceinline__ explicit LargeTileMainloop(double* memory)
      : memory_(memory), barriers_(simt::shared_address(memory + stages * stage_elements)) {
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages; ++stage) {
        simt::mbarrier_init(full(stage), 32 * producer_warps);
        simt::mbarrier_init(empty(stage), Warps);
      }
      simt::fence_mbarrier_init();
    }
  }

  /// Copies `count` k tiles to the ring buffer. For producer warps.
  __device__ __forceinline__ void copy(LargeTileLoader</*KContiguous=*/false, Order, Warps> a,
                                       LargeTileLoader<!Square, Order, Warps> b, int count) {
    int current = 0;      // the stage of the k tile
    unsigned parity = 1;  // of the phase of `empty` to wait for; becomes 0 before the first wait
    GAUSSWEEP_ROLLED
    for (int k_tile = 0; k_tile < count; ++k_tile) {
      if (k_tile >= stages) simt::mbarrier_wait(empty(current), parity);
      a.copy(slot(current));
      b.copy(slot(current) + A::elements);
      simt::cp_async_mbarrier_arrive(full(current));
      current = current + 1 == stages ? 0 : current + 1;
      if (current == 0) parity ^= 1u;
    }
    simt::end_copy_group();
    simt::await_copy_groups<0>();
  }

  /// Sets the accumulators to the product of `count` k tiles. For consumer warps.
  __device__ __forceinline__ void add(int count) {
    GAUSSWEEP_UNROLL
    for (int m = 0; m < tiles_down; ++m) {
      GAUSSWEEP_UNROLL
      for (int n = 0; n < tiles_across; ++n) {
        GAUSSWEEP_UNROLL
        for (int e = 0; e < 4; ++e) sums_[m][n][e] = 0;
      }
    }
    if (count == 0) return;
    simt::mbarrier_wait(full(0), 0);
    load_left(0, slot(0), 0, 0);
    GAUSSWEEP_UNROLL
    for (int n = 0; n < tiles_across; ++n) load_right(0, slot(0), 0, n);
    int current = 0;      // the stage of the k tile
    unsigned parity = 0;  // of the phase of full(next) to wait for
    GAUSSWEEP_ROLLED
    for (int k_tile = 0; k_tile < count; ++k_tile) {
      const int next = current + 1 == stages ? 0 : current + 1;
      if (next == 0) parity ^= 1u;
      multiply_half<0>(slot(current), slot(current));
      if (k_tile + 1 < count) simt::mbarrier_wait(full(next), parity);
      multiply_half<1>(slot(current), slot(next));
      __syncwarp();
      if (threadIdx.x % 32 == 0) simt::mbarrier_arrive(empty(current));
      current = next;
    }
  }

  /// Adds the accumulators of the cluster's first block to the accumulators of its second block. For consumer
  /// warps, after add(count) in the calling block.
  /// @param rank the block's rank in its cluster
  __device__ __forceinline__ void join(int rank, int count) {
    const unsigned pair_address = simt::shared_address(memory_) + 16 * threadIdx.x;
    const auto for_pairs_of_sums = [&](unsigned from, auto visit) {
      GAUSSWEEP_UNROLL
      for (int k = 0; k < tiles_down * tiles_across * 2; ++k) {
        visit(from + k * 16 * 32 * Warps, &sums_[k / 2 / tiles_across][k / 2 % tiles_across][k % 2 * 2]);
      }
    };
    if (rank == 0) {
      // The sums overwrite the ring buffer, so all warps must have read the last k tile.
      if (count > 0) simt::mbarrier_wait(empty((count - 1) % stages), (count - 1) / stages % 2);
      for_pairs_of_sums(pair_address, [](unsigned to, const double* pair) { simt::store_pack(to, pair); });
    }
    simt::cluster_arrive();
    simt::cluster_wait();
    if (rank == 1) {
      for_pairs_of_sums(simt::map_shared_rank(pair_address, 0), [](unsigned from, double* pair) {
        double other[2];
        simt::load_pack_remote(from, other);
        pair[0] += other[0];
        pair[1] += other[1];
      });
    }
    simt::cluster_arrive();  // the first block's shared memory must stay valid until it has been read
    simt::cluster_wait();
  }

  /// Calls store(row, column, sum, sum in the next row) for all accumulators of the lane.
  template <class Store>
  __device__ __forceinline__ void for_pairs(Store store) const {
    GAUSSWEEP_UNROLL
    for (int n = 0; n < tiles_across; ++n) {
      GAUSSWEEP_UNROLL
      for (int q = 0; q < 2; ++q) {
        GAUSSWEEP_UNROLL
        for (int m = 0; m < tiles_down; ++m) {
          store(row() + m * 16, column() + 4 * lane_of_quad() + 2 * q + n / 2 * 16 + n % 2, sums_[m][n][q],
                sums_[m][n][2 + q]);
        }
      }
    }
  }

 private:
  /// A warp tile has tiles_down x tiles_across accumulator fragments of 16 x 8 elements.
  static constexpr int tiles_down = Order / 32, tiles_across = Order / (4 * Warps);
  /// The lane's group of four lanes and its index in the group: groupID and threadID_in_group in PTX's
  /// description of mma fragments.
  __device__ static int quad() { return static_cast<int>(threadIdx.x) % 32 / 4; }
  __device__ static int lane_of_quad() { return static_cast<int>(threadIdx.x) % 4; }
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static int row_part() { return warp() % 2 * (Order / 2); }       ///< the warp's first row
  __device__ static int row() { return row_part() + 2 * quad(); }             ///< the lane's first row
  __device__ static int column() { return warp() / 2 * (tiles_across * 8); }  ///< the warp's first column
  __device__ __forceinline__ double* slot(int stage) const { return memory_ + stage * stage_elements; }
  /// The mbarriers of a stage: `full` completes when the k tile has arrived, `empty` when all warps have read
  /// it.
  __device__ __forceinline__ unsigned full(int stage) const {
    return barriers_ + static_cast<unsigned>(16 * stage);
  }
  __device__ __forceinline__ unsigned empty(int stage) const { return full(stage) + 8; }

  __device__ __forceinline__ static void load_pair(const double* from, double (&pair)[2]) {
    simt::load_pack(simt::shared_address(from), pair);
  }
  /// Loads the lane's part of fragment m of A: 16 rows and the eight k indices of one half of a k tile.
  __device__ __forceinline__ void load_left(int buffer, const double* from, int half, int m) {
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) {
      double pair[2];
      load_pair(from + (8 * half + 2 * lane_of_quad() + h) * A::stride + row() + m * 16, pair);
      left_[buffer][2 * h] = pair[0];
      left_[buffer][2 * h + 1] = pair[1];
    }
  }
  /// Loads two elements of B: two k indices of one column, or with `Square` one k index of two columns. The
  /// calls for all n load all fragments of one half of a k tile.
  __device__ __forceinline__ void load_right(int buffer, const double* from, int half, int n) {
    const int k_index = 8 * half + 2 * lane_of_quad(), line = column() + 2 * quad() + n / 2 * 16;
    if constexpr (Square) {
      double pair[2];
      load_pair(from + A::elements + (k_index + n % 2) * B::stride + line, pair);
      right_[buffer][n / 2 * 2][n % 2] = pair[0];
      right_[buffer][n / 2 * 2 + 1][n % 2] = pair[1];
    } else {
      load_pair(from + A::elements + (line + n % 2) * B::stride + k_index, right_[buffer][n]);
    }
  }
  /// Multiplies one half of the k tile `current`. Fragments are loaded one step ahead: of A for the next m,
  /// and of both operands for the other half, which is in the k tile `next`.
  template <int Half>
  __device__ __forceinline__ void multiply_half(const double* current, const double* next) {
    GAUSSWEEP_UNROLL
    for (int m = 0; m < tiles_down; ++m) {
      if (m + 1 < tiles_down) {
        load_left((m + 1) % 2, current, Half, m + 1);
      } else {
        load_left(0, next, 1 - Half, 0);
      }
      GAUSSWEEP_UNROLL
      for (int n = 0; n < tiles_across; ++n) {
        // Spreads the loads of B evenly over the steps m.
        if (n * tiles_down / tiles_across == m) load_right(1 - Half, next, 1 - Half, n);
      }
      GAUSSWEEP_UNROLL
      for (int n = 0; n < tiles_across; ++n) lu::multiply_16x8(sums_[m][n], left_[m % 2], right_[Half][n]);
    }
  }

  double* memory_;
  unsigned barriers_;
  double sums_[tiles_down][tiles_across][4];
  double left_[2][4];
  double right_[2][tiles_across][2];
};

#endif

/// Maps the index of a thread block, or of a cluster, to its C tile. P P^T has only the tiles on and below
/// the diagonal.
template <int Order, bool Square>
struct LargeTileGrid {
  TileGrid<Order> full_grid;  ///< all C tiles, also those above the diagonal
  __host__ __device__ int tiles() const {
    return Square ? full_grid.groups * (full_grid.groups + 1) / 2 : full_grid.tile_count();
  }
  __device__ ProductTile tile(const LevelProduct<double>& p, int index) const {
    index = full_grid.schedule_rank(index, tiles());
    if (Square) {
      // Row r begins at index r (r + 1) / 2. The square root is rounded, so `row` may be off by one.
      int row = static_cast<int>((std::sqrt(8.0f * static_cast<float>(index) + 1) - 1) / 2);
      if (row * (row + 1) / 2 > index) --row;
      if ((row + 1) * (row + 2) / 2 <= index) ++row;
      index += row * full_grid.group_size - row * (row + 1) / 2;
    }
    return full_grid.at(p, index);
  }
};

/// Computes one C tile per thread block or per cluster of two thread blocks. A cluster's first thread block
/// multiplies the first half of the k range, its second one the second half.
/// @tparam Warps number of consumer warps per block
template <int Order, bool Square, int BlocksPerTile, int Warps>
__global__ void __launch_bounds__(32 * (Warps + producer_warps), Order == 64 ? 2 : 1)
    multiply_large(LevelProduct<double> p, LargeTileGrid<Order, Square> grid) {
#if GAUSSWEEP_CLUSTERS
  LargeTileMainloop<Order, Square, Warps> product(simt::dynamic_shared<double>());
  const int rank = static_cast<int>(blockIdx.x) % BlocksPerTile;
  const ProductTile tile = grid.tile(p, static_cast<int>(blockIdx.x) / BlocksPerTile);
  __syncthreads();
  simt::griddepcontrol_wait();
  if (!tile.is_nonempty()) return;
  const int k_tiles = tile.k_tiles(large_depth), first_k_tile = rank * (k_tiles / 2);
  const int count = rank + 1 == BlocksPerTile ? k_tiles - first_k_tile : k_tiles / 2;
  if (threadIdx.x >= 32 * Warps) {
    simt::setmaxnreg_dec<40>();
    const int step = tile.step(large_depth), first = tile.first(large_depth) + first_k_tile * step;
    const int k_count = tile.end - first;
    const double* const a = p.a + tile.pair * p.a_step + tile.row + first * p.lda;
    const double* const b =
        p.b + tile.pair * p.b_step + (Square ? tile.column + first * p.ldb : first + tile.column * p.ldb);
    product.copy(LargeTileLoader</*KContiguous=*/false, Order, Warps>(a, p.lda, tile.rows, k_count, step),
                 LargeTileLoader<!Square, Order, Warps>(b, p.ldb, tile.columns, k_count, step), count);
    return;
  }
  // All warps of a multiprocessor together have at most 65536 registers.
  simt::setmaxnreg_inc<Order == 128 ? 232 : Warps == 8 ? 96 : 168>();
  if (rank == 0) write_zeros(p, /*triangle=*/0, tile, 32 * Warps);
  product.add(count);
  if constexpr (BlocksPerTile == 2) {
    product.join(rank, count);
    if (rank == 0) return;
  }

  double* const c = p.c + tile.pair * p.c_step + tile.row + tile.column * p.ldc;
  const bool aligned = reinterpret_cast<std::uintptr_t>(c) % 16 == 0 && p.ldc % 2 == 0;
  bool is_within = true;
  product.for_pairs([&](int i, int j, double sum, double next_sum) {
    if (i >= tile.rows || j >= tile.columns) return;
    double* const target = c + i + j * p.ldc;
    const bool has_second_row = i + 1 < tile.rows;
    if (has_second_row && aligned) {
      lu::store_two(target, p.factor * sum, p.factor * next_sum);
    } else {
      target[0] = p.factor * sum;
      if (has_second_row) target[1] = p.factor * next_sum;
    }
    if (!Square) is_within = p.is_within(sum) && (!has_second_row || p.is_within(next_sum)) && is_within;
  });
  if (!Square && p.exceeds_limit != nullptr && !is_within) *p.exceeds_limit = 1;
#endif
}

/// Returns true if the GPU supports multiply_large.
inline bool supports_large_tiles(const Context& context) {
  return simt::has_clusters(context);
}
template <int BlocksPerTile, int Warps, int Order, bool Square>
void launch_large(Context& context, const LevelProduct<double>& p, const LargeTileGrid<Order, Square>& grid) {
  simt::launch_clusters(context, multiply_large<Order, Square, BlocksPerTile, Warps>, BlocksPerTile,
                        static_cast<unsigned>(grid.tiles()), dim3(32 * (Warps + producer_warps)),
                        LargeRingBuffer<Order, Square>::bytes, p, grid);
}
template <bool Square>
void launch_large(Context& context, const LevelProduct<double>& p, int pairs, int min_large_tiles,
                  int min_split_k) {
  // Larger than any number of 128 x 128 tiles. With this TileGrid::wave, schedule_rank() does not reorder
  // tiles.
  constexpr int all_tiles = 1 << 28;
  const LargeTileGrid<128, Square> large{{p, pairs, all_tiles}};
  if (large.tiles() >= min_large_tiles) return launch_large<1, 8>(context, p, large);
  const int multiprocessors = simt::multiprocessors(context);
  LargeTileGrid<64, Square> grid{{p, pairs, multiprocessors}};
  const int tiles = grid.tiles();
  // Measured on one H200. The limit of P P^T is higher because its few tiles have a long k range.
  const bool has_few_tiles = Square ? tiles <= 3 * multiprocessors : 3 * tiles <= 4 * multiprocessors;
  const bool splits_k = has_few_tiles && p.k >= min_split_k;
  const bool is_aligned = (p.lda | p.ldb) % 2 == 0;
  // Two thread blocks with 64 x 64 tiles are resident per multiprocessor.
  const bool fits_one_wave = is_aligned && (splits_k ? 2 : 1) * tiles <= 2 * multiprocessors;
  if (splits_k) {
    grid.full_grid.wave /= 2;  // each tile occupies two thread blocks
    return fits_one_wave ? launch_large<2, 8>(context, p, grid) : launch_large<2, 4>(context, p, grid);
  }
  if constexpr (!Square) {  // P P^T with few tiles always splits k
    if (fits_one_wave) return launch_large<1, 8>(context, p, grid);
  }
  launch_large<1, 4>(context, p, grid);
}
/// Computes `pairs` products C = factor A B in one launch. Uses 128 x 128 tiles if there are at least
/// `min_large_tiles` of them. If there are few tiles and k is at least `min_split_k`, two thread blocks share
/// each tile. @pre supports_large_tiles
inline void multiply_by_large_tiles(Context& context, const LevelProduct<double>& p, int pairs,
                                    int min_large_tiles, int min_split_k = min_split_k_of_level) {
  launch_large</*Square=*/false>(context, p, pairs, min_large_tiles, min_split_k);
}
/// Computes the lower triangle of C = P P^T in one launch. @pre supports_large_tiles
inline void square_by_large_tiles(Context& context, const LevelProduct<double>& p, int min_large_tiles) {
  launch_large</*Square=*/true>(context, p, /*pairs=*/1, min_large_tiles, /*min_split_k=*/0);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
