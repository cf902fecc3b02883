#pragma once
/// What the warps of the trailing update, update.cuh, do with a tile: one loads, the others multiply.

#include "tests/benchmark/trailing_update/steps.cuh"

namespace gaussweep::cuda::lu {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

namespace detail {

/// The loader: all slabs of all tiles that this block takes, `tile` the first.
template <class Shape>
__device__ __forceinline__ void load_slabs(const UpdateJob& job, unsigned tile,
                                           const UpdateMemory<Shape>& memory) {
  const unsigned long long policy = cache_policy_of_operands(job.hints);
  RingPlace<Shape::stages> at{0, 1};  // all stages are empty at first
#pragma unroll 1
  for (unsigned turn = 0;; ++turn) {
    const TilePlace place = place_of(job, tile);
    const unsigned slot = turn % Shape::announced;
    store_place(memory.place(slot), place);
    arrive(memory.announced(slot));
    if (place.product < 0) return;
    const UpdateProduct& product = job.product[place.product];
    const int slabs = product.slabs;
    const int row = place.row * Shape::rows;
    const int column = place.column * Shape::columns;
    const int ask = max(slabs - Shape::prefetch_parts, 0);  // late, since other blocks may run out of tiles
#pragma unroll 1
    for (int s = 0; s < slabs; ++s) {
      await(memory.empty(at.stage), at.parity);
      const unsigned full = memory.full(at.stage);
      const unsigned stage = memory.stage(at.stage);
      expect_bytes(full, Shape::stage_bytes);
      copy_box(stage + Shape::rows * 128, &product.b, s * Shape::slab, column, full, policy);
#pragma unroll 1
      for (int box = 0; box < Shape::rows / 16; ++box) {
        copy_box(stage + box * 2048, &product.a, row + box * 16, s * Shape::slab, full, policy);
      }
      at.advance();
      if (s == ask) tile = atomicAdd(&job.counters->next_tile, 1u);
      if (s >= ask && job.prefetch != 0) {
        constexpr int width = Shape::columns / Shape::prefetch_parts;
        const TilePlace next = place_of(job, tile);
        if (next.product >= 0) {
          prefetch_box(&job.product[next.product].c, next.row * Shape::rows,
                       next.column * Shape::columns + (s - ask) * width, cache_policy_of_result(job.hints));
        }
      }
    }
  }
}

/// A lane's elements of C in a tile: the first, what is left of the matrix from there on.
template <class Shape>
struct LaneCorner {
  double* corner;
  int ldc, rows_left, columns_left;

  __device__ __forceinline__ LaneCorner(const UpdateJob& job, const TilePlace& place, int row, int column) {
    const UpdateProduct& product = job.product[place.product];
    row += place.row * Shape::rows;
    column += place.column * Shape::columns;
    ldc = product.ldc;
    rows_left = product.rows - row;
    columns_left = product.columns - column;
    corner = product.c_data + row + column * static_cast<std::int64_t>(ldc);
  }
};

/// A warp that multiplies: its part of every tile that the loader announces.
template <class Shape>
__device__ __forceinline__ void multiply_slabs(const UpdateJob& job, int warp,
                                               const UpdateMemory<Shape>& memory) {
  constexpr int inner = Shape::inner;
  constexpr int down = Shape::tiles_down;
  constexpr int across = Shape::tiles_across;
  constexpr int turns = Shape::slab / inner * down;  // in a turn the products of 16 rows
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int g = lane / 4;
  const int t = lane % 4;
  const int group = warp / 4;
  const int warp_row = (group % Shape::groups_down * 2 + warp % 2) * Shape::warp_rows;
  const int warp_column = (group / Shape::groups_down * 2 + warp / 2 % 2) * Shape::warp_columns;
  const int column_of_lane = g / 2 + 4 * (g % 2);
  const auto line_of_rows = static_cast<unsigned>(warp_row * 128 + 2 * t * 128);
  const auto line_of_column = static_cast<unsigned>((Shape::rows + warp_column + column_of_lane) * 128);
  const unsigned rows_at[2] = {line_of_rows + static_cast<unsigned>((g ^ (2 * t)) * 16),
                               line_of_rows + 128 + static_cast<unsigned>((g ^ (2 * t + 1)) * 16)};
  const unsigned columns_at[2] = {line_of_column + static_cast<unsigned>((t ^ column_of_lane) * 16),
                                  line_of_column + static_cast<unsigned>(((t + 4) ^ column_of_lane) * 16)};
  const int first_row = warp_row + 2 * g;
  const int first_column = warp_column + t;
  const int lead = job.lead;
  RingPlace<Shape::stages> at{0, 0};
#pragma unroll 1
  for (unsigned turn_of_tile = 0;; ++turn_of_tile) {
    const unsigned slot = turn_of_tile % Shape::announced;
    await(memory.announced(slot), turn_of_tile / Shape::announced % 2);
    int slabs;
    {
      const TilePlace place = load_place(memory.place(slot));
      if (place.product < 0) return;
      slabs = job.product[place.product].slabs;
    }
    // Of elements beyond the matrix another one is loaded, which is then not stored; of a last row alone the
    // place below it, which a column of even length has.
    double c[down][across][4];
    {
      const LaneCorner<Shape> tile(job, load_place(memory.place(slot)), first_row, first_column);
      const unsigned long long policy = cache_policy_of_result(job.hints);
      const double* from[down];
      const int last_pair = (tile.rows_left - 1) & ~1;
#pragma unroll
      for (int i = 0; i < down; ++i) from[i] = tile.corner + min(i * 16, last_pair);
#pragma unroll
      for (int j = 0; j < across; ++j) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int beside = min(j * 8 + h * 4, tile.columns_left - 1);
#pragma unroll
          for (int i = 0; i < down; ++i) {
            load_two(c[i][j][h], c[i][j][h + 2], from[i] + beside * static_cast<std::int64_t>(tile.ldc),
                     policy);
          }
        }
      }
    }
    if (lead != 0 && group != 0) await(memory.led(group - 1), turn_of_tile % 2);
    await(memory.full(at.stage), at.parity);

    double a[2][inner / 2];
    double b[Shape::buffers][across][inner / 4];
    unsigned rows_address[2], columns_address[2];
    const auto enter_stage = [&]() {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        rows_address[e] = memory.stage(at.stage) + rows_at[e];
        columns_address[e] = memory.stage(at.stage) + columns_at[e];
      }
    };
    enter_stage();
    load_rows<inner>(a[0], rows_address, 0, 0);
#pragma unroll
    for (int j = 0; j < across; ++j) load_columns<inner>(b[0][j], columns_address, j, 0);
#pragma unroll
    for (int i = 0; i < down; ++i) {
#pragma unroll
      for (int j = 0; j < across; ++j) {
#pragma unroll
        for (int q = 0; q < 4; ++q) c[i][j][q] = -c[i][j][q];
      }
    }

#pragma unroll 1
    for (int s = 0; s < slabs; ++s) {
      bool arrived = false;  // the next slab
      RingPlace<Shape::stages> next = at;
      next.advance();
#pragma unroll
      for (int turn = 0; turn < turns; ++turn) {
        const int i = turn % down;
        const bool last_of_step = i == down - 1;
        const bool last_of_slab = turn == turns - 1;
        const int next_i = (turn + 1) % down;
        const int next_step = (turn + 1) % turns / down;
        const int used = turn / down % Shape::buffers;
        const int filled = next_step % Shape::buffers;
        // Asked for early: the answer takes as long as a product.
        if (turn == turns - 2) arrived = s + 1 == slabs || over(memory.full(next.stage), next.parity);
#pragma unroll
        for (int j = 0; j < across; ++j) {
          multiply_16x8(c[i][j], a[turn % 2], b[used][j]);
          if (j == 0 && last_of_slab) {
            // What this warp needs of the slab is in registers: the product just begun waited for it.
            __syncwarp();
            arrive_if(lane == 0, memory.empty(at.stage));
            if (Shape::groups > 1) arrive_if(lane == 0 && s + 1 == lead, memory.led(group));
            at = next;
            if (!arrived) await(memory.full(at.stage), at.parity);
            enter_stage();
          }
          // After the last slab of a tile what is loaded here, whatever it is, is not used.
          if (j == 0) load_rows<inner>(a[(turn + 1) % 2], rows_address, next_i, next_step);
          if (last_of_step) load_columns<inner>(b[filled][j], columns_address, j, next_step);
        }
      }
    }

    // Found out anew: it was not kept in registers beside the products.
    const LaneCorner<Shape> tile(job, load_place(memory.place(slot)), first_row, first_column);
    const unsigned long long policy = cache_policy_of_result(job.hints);
#pragma unroll
    for (int j = 0; j < across; ++j) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int beside = j * 8 + h * 4;
        double* const to = tile.corner + beside * static_cast<std::int64_t>(tile.ldc);
#pragma unroll
        for (int i = 0; i < down; ++i) {
          // Not -c: nothing left is 0, not -0.
          store_two(beside < tile.columns_left ? tile.rows_left - i * 16 : 0, to + i * 16,
                    __dsub_rn(0.0, c[i][j][h]), __dsub_rn(0.0, c[i][j][h + 2]), policy);
        }
      }
    }
  }
}

}  // namespace detail

#endif

}  // namespace gaussweep::cuda::lu
