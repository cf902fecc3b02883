#pragma once
/// Workspace of the products by residues. Needs no kernels.

#include <algorithm>
#include <cstdint>

#include "kernels/gemm/residue_numbers.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::residues {

constexpr std::int64_t padded(std::int64_t size) {
  return (size + 15) / 16 * 16;
}
/// Returns the columns of C per block: 2^25 sums per modulus, but at least 2048 columns. Fewer columns are
/// slower; more columns, or widths that are no multiple of the product's tiles, gain nothing.
constexpr std::int64_t block_width(std::int64_t m) {
  return std::max<std::int64_t>(2048, (1 << 25) / padded(m) / 256 * 256);
}
/// Workspace sizes for one product, or for the largest of several.
struct Room {
  std::int64_t left = 0;       ///< bytes of A's residues
  std::int64_t right = 0;      ///< bytes of the residues of a block of B's columns
  std::int64_t sums = 0;       ///< ints
  std::int64_t exponents = 0;  ///< ints: rows of A + columns of B
};
/// Returns the sizes for products m x n x k with at most `moduli` moduli.
constexpr Room room_for(std::int64_t m, std::int64_t n, std::int64_t k, int moduli) {
  const std::int64_t width = padded(std::min(n, block_width(m)));
  return {moduli * padded(m) * padded(k), moduli * width * padded(k), moduli * width * padded(m), m + n};
}
inline std::size_t bytes_of(const Room& room) {
  return workspace_piece(room.left, 1) + workspace_piece(room.right, 1) +
         workspace_piece(room.sums, sizeof(int)) + workspace_piece(room.exponents + 2, sizeof(int));
}
/// Returns the columns per block: min(n, block_width(m), the multiple of 16 that fits). The residues and sums
/// of `count` planes with m rows must fit in `room`.
constexpr std::int64_t block_columns(const Room& room, int count, std::int64_t m, std::int64_t n,
                                     std::int64_t k) {
  const std::int64_t fitting = std::min(room.right / (count * k), room.sums / (count * m)) / 16 * 16;
  return std::min({n, block_width(m), fitting});
}

}  // namespace gaussweep::residues
