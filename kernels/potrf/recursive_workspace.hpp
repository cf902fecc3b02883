#pragma once
/// Workspace sizes of recursive_cholesky.cuh, in a header that does not need CUDA.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/registry/column_blocks.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::tiles {

constexpr int tile_order = 64;  ///< rows and columns of a tile

/// Returns n rounded up to whole tiles, the order of a copied matrix.
constexpr std::int64_t round_up_to_tiles(std::int64_t n) {
  return (n + tile_order - 1) / tile_order * tile_order;
}
/// Returns true if a copy of the matrix is factored. A matrix is copied if it is scaled first, is stored as
/// an upper triangle, or does not consist of whole tiles. The copy has whole tiles and is lower triangular.
inline bool is_copied(const Shape& shape, bool scaled = false) {
  return scaled || shape.uplo == Uplo::upper || shape.n % tile_order != 0;
}
/// Returns the number of 32-bit words by which thread blocks synchronise: a state per tile, a ticket per
/// launch, and the time-out flag.
constexpr std::int64_t flag_count(std::int64_t n) {
  const std::int64_t count = round_up_to_tiles(n) / tile_order;
  return count * count + count + 1;
}

/// Number of elements of a diagonal tile's mailbox, the memory through which thread blocks receive the
/// factored tile. It holds the tile and the inverses of its 8 x 8 diagonal tiles.
constexpr std::int64_t mailbox_elements = tile_order * (tile_order + 8);

/// Returns the bytes of workspace of a factorisation of order n, or of its panels, without a copy of A.
/// `element_bytes` is the size of an element.
inline std::size_t in_place_bytes(std::int64_t n, std::size_t element_bytes) {
  return aligned_workspace_bytes(flag_count(n), sizeof(unsigned)) +
         aligned_workspace_bytes(round_up_to_tiles(n) / tile_order * mailbox_elements, element_bytes);
}

/// Returns the bytes of workspace of a factorisation.
/// @param scaled true: a copy of the matrix is scaled before the factorisation, and its scale factors are
/// kept
inline std::size_t workspace_bytes(const Shape& shape, std::size_t element_bytes, bool scaled = false) {
  return in_place_bytes(shape.n, element_bytes) +
         aligned_workspace_bytes(
             is_copied(shape, scaled) ? round_up_to_tiles(shape.n) * round_up_to_tiles(shape.n) : 0,
             element_bytes) +
         aligned_workspace_bytes(scaled ? round_up_to_tiles(shape.n) : 0, element_bytes);
}

/// Returns the columns per block of the block-cyclic distribution over several GPUs.
inline std::int64_t column_block(const Shape& shape, const Parameters& parameters) {
  const std::int64_t block = parameters.integer("block");
  if (block > 0) return round_up_to_tiles(block);
  return shape.n >= 8192 * parameters.integer("gpus") ? 1024 : 512;
}
/// Returns true if one GPU factors the matrix faster than several: if n is below the parameter `gpus_from`,
/// or below `smallest` by default. For posv, `smallest` is larger, because its solves gain less from several
/// GPUs.
template <std::int64_t smallest = 10240>
bool uses_one_gpu(const Shape& shape, const Parameters& parameters) {
  return is_below_gpus_from(shape.n, parameters, smallest);
}
inline constexpr auto solve_uses_one_gpu = uses_one_gpu<11264>;
/// Returns the number of block columns that are factored as panels. The first GPU factors the remaining
/// columns, the *rest*, alone in one launch. There is no rest if it would have less than two block columns.
/// @param rest the maximum number of rows of the rest
inline std::int64_t distributed_panel_count(const ColumnBlocks& blocks, std::int64_t rest) {
  std::int64_t panels = 1;
  while (panels < blocks.count() && blocks.n - blocks.begin(panels) > rest) ++panels;
  return panels + 1 < blocks.count() ? panels : blocks.count();
}
/// Returns the order of the rest, in whole tiles; 0 if there is none.
inline std::int64_t rest_order(const ColumnBlocks& blocks, std::int64_t rest) {
  return round_up_to_tiles(blocks.n - blocks.begin(distributed_panel_count(blocks, rest)));
}
/// Returns the maximum number of rows of the rest: the parameter `rest`, or 4096 by default.
inline std::int64_t max_rest_rows(const Parameters& parameters) {
  const std::int64_t rest = parameters.integer("rest");
  return rest > 0 ? rest : 4096;
}
/// Adds the parameters and functions of a method for several GPUs to a registry row. On several GPUs such a
/// method takes only the lower triangle.
inline Method on_several_gpus(Method method) {
  method.parameters = {
      gpus_parameter(),
      integer_parameter(
          "block", /*default_value=*/0, /*low=*/0, /*high=*/4096,
          "columns per panel, rounded up to a multiple of 64; 0: 1024, or 512 if n < 8192 * gpus"),
      integer_parameter("gpus_from", /*default_value=*/0, /*low=*/0, /*high=*/1 << 30,
                        "smallest n for several GPUs; 0: 10240 (posv: 11264)"),
      integer_parameter("rest", /*default_value=*/0, /*low=*/0, /*high=*/16384,
                        "maximum number of last rows that the first GPU factors alone; 0: 4096")};
  method.column_block = column_block;
  method.uses_one_gpu = uses_one_gpu<>;
  method.accepts = [](const Shape& shape, const Parameters& parameters) {
    return shape.uplo == Uplo::lower || parameters.integer("gpus") == 1;
  };
  return method;
}
/// Returns the bytes of a panel of whole tiles and of its info.
constexpr std::size_t panel_bytes(std::int64_t rows, std::int64_t columns, std::size_t element_bytes) {
  return static_cast<std::size_t>(round_up_to_tiles(rows) * round_up_to_tiles(columns)) * element_bytes +
         sizeof(int);
}
/// Returns the bytes of a copy of the rest and of its info; 0 without the parameter `rest`.
inline std::size_t rest_bytes(const ColumnBlocks& blocks, const Parameters& parameters,
                              std::size_t element_bytes) {
  if (parameters.all().count("rest") == 0) return 0;
  const std::int64_t order = rest_order(blocks, max_rest_rows(parameters));
  return aligned_workspace_bytes(order * order, element_bytes) + aligned_workspace_bytes(1, sizeof(int));
}
/// Returns the maximum number of columns of a GPU. The GPU saves the diagonal blocks of its columns, which
/// the factorisation overwrites. The first GPU has the most columns. A partial last block counts as whole.
constexpr std::int64_t saved_columns(const ColumnBlocks& blocks) {
  return (blocks.count() + blocks.gpus - 1) / blocks.gpus * blocks.width;
}
/// Returns the bytes of workspace per GPU: two panels, the workspace of a panel's factorisation, copies of
/// the diagonal blocks, and a copy of the rest.
inline std::size_t multi_gpu_bytes(const Shape& shape, const Parameters& parameters,
                                   std::size_t element_bytes) {
  const int gpus = static_cast<int>(parameters.integer("gpus"));
  if (gpus == 1 || uses_one_gpu(shape, parameters)) return workspace_bytes(shape, element_bytes);
  const ColumnBlocks blocks{shape.n, column_block(shape, parameters), gpus};
  const std::size_t panel = panel_bytes(shape.n, blocks.width, element_bytes);
  return 2 * aligned_workspace_bytes(static_cast<std::int64_t>(panel), 1) +
         in_place_bytes(shape.n, element_bytes) +
         aligned_workspace_bytes(saved_columns(blocks) * blocks.width, element_bytes) +
         rest_bytes(blocks, parameters, element_bytes);
}

/// Returns the maximum number of columns of P that are converted to FP16 together, for an update C -= P P^T
/// (split_updates.cuh).
constexpr std::int64_t split_columns(std::int64_t n) {
  return std::min<std::int64_t>(round_up_to_tiles(n), 4096);
}
/// Returns the bytes of workspace for updates in FP16.
inline std::size_t split_bytes(std::int64_t n) {
  return aligned_workspace_bytes(4 * round_up_to_tiles(n) * split_columns(n), 2);
}

}  // namespace gaussweep::tiles
