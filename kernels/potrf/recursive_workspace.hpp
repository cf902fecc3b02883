#pragma once
/// What potrf/recursive asks for, where no CUDA is needed to say it: recursive_cholesky.cuh.

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

constexpr int split_columns = 1024;  ///< most columns of a panel that is split into halves
constexpr int split_buffers = 3;     ///< panels at once

/// Bytes of workspace for updates by halves.
inline std::size_t split_bytes(std::int64_t n) {
  return workspace_piece(split_buffers * 4 * padded(n) * split_columns, 2);
}

}  // namespace gaussweep::tiles
