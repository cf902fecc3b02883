#pragma once
/// Workspace sizes of recursive_cholesky.cuh, in a header that does not need CUDA.

#include <algorithm>
#include <cstdint>

#include "kernels/registry/method.hpp"

namespace gaussweep::tiles {

constexpr int tile_order = 64;

/// Returns the order of a copied matrix: n rounded up to whole tiles.
constexpr std::int64_t padded(std::int64_t n) {
  return (n + tile_order - 1) / tile_order * tile_order;
}
/// Returns true if a copy of the matrix is factored. The copy has whole tiles and is lower triangular.
inline bool is_copied(const Shape& shape, bool scaled = false) {
  return scaled || shape.uplo == Uplo::upper || shape.n % tile_order != 0;
}
/// Returns the number of flags between blocks: a state per tile, a ticket per launch, and the time-out flag.
constexpr std::int64_t flag_words(std::int64_t n) {
  const std::int64_t count = padded(n) / tile_order;
  return count * count + count + 1;
}

/// Number of elements of a diagonal tile's mailbox.
constexpr std::int64_t mailbox_elements = tile_order * (tile_order + 8);

/// Returns the bytes of workspace of a factorisation.
inline std::size_t workspace_bytes(const Shape& shape, std::size_t element, bool scaled = false) {
  return workspace_piece(flag_words(shape.n), sizeof(unsigned)) +
         workspace_piece(padded(shape.n) / tile_order * mailbox_elements, element) +
         workspace_piece(is_copied(shape, scaled) ? padded(shape.n) * padded(shape.n) : 0, element) +
         workspace_piece(scaled ? padded(shape.n) : 0, element);
}

/// Returns the maximum number of columns that one split converts to FP16 (split_updates.cuh).
constexpr std::int64_t split_columns(std::int64_t n) {
  return std::min<std::int64_t>(padded(n), 4096);
}
/// Returns the bytes of workspace for updates in FP16.
inline std::size_t split_bytes(std::int64_t n) {
  return workspace_piece(4 * padded(n) * split_columns(n), 2);
}

}  // namespace gaussweep::tiles
