#pragma once
/// What potrf/recursive asks for, where no CUDA is needed to say it: recursive_cholesky.cuh.

#include <algorithm>
#include <cstdint>

#include "kernels/registry/method.hpp"

namespace gaussweep::tiles {

constexpr int tile_order = 64;

/// Of a matrix of our own: whole tiles.
constexpr std::int64_t padded(std::int64_t n) {
  return (n + tile_order - 1) / tile_order * tile_order;
}
/// Whether the matrix is copied to be factored, and back: tiles are whole then, and a lower triangle's.
inline bool is_copied(const Shape& shape, bool scaled = false) {
  return scaled || shape.uplo == Uplo::upper || shape.n % tile_order != 0;
}
/// Words that blocks tell each other by: a state a tile, a ticket a launch, one more.
constexpr std::int64_t words(std::int64_t n) {
  const std::int64_t count = padded(n) / tile_order;
  return count * count + count + 1;
}

/// Elements that are handed on of a tile on the diagonal.
constexpr std::int64_t handed_elements = tile_order * (tile_order + 8);

/// Bytes of workspace of a factorisation.
inline std::size_t workspace_bytes(const Shape& shape, std::size_t element, bool scaled = false) {
  return workspace_piece(words(shape.n), sizeof(unsigned)) +
         workspace_piece(padded(shape.n) / tile_order * handed_elements, element) +
         workspace_piece(is_copied(shape, scaled) ? padded(shape.n) * padded(shape.n) : 0, element) +
         workspace_piece(scaled ? padded(shape.n) : 0, element);
}

/// Most columns that are split into four halves each at once.
constexpr std::int64_t split_columns(std::int64_t n) {
  return std::min<std::int64_t>(padded(n), 4096);
}
/// Bytes of workspace for updates by halves.
inline std::size_t split_bytes(std::int64_t n) {
  return workspace_piece(4 * padded(n) * split_columns(n), 2);
}

}  // namespace gaussweep::tiles
