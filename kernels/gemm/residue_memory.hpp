#pragma once
/// What the products by residues take of the workspace, where no kernel is needed to say it.

#include <algorithm>
#include <cstdint>

#include "kernels/gemm/residue_numbers.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::residues {

constexpr std::int64_t padded(std::int64_t size) {
  return (size + 15) / 16 * 16;
}
/// Columns whose sums are held at once: 2^25 sums of a modulus, or 2048 columns. Fewer take longer, more, or
/// what is no multiple of the tiles of a product, gain nothing.
constexpr std::int64_t block_width(std::int64_t m) {
  return std::max<std::int64_t>(2048, (1 << 25) / padded(m) / 256 * 256);
}
/// Room for a product, or for one of several.
struct Room {
  std::int64_t left = 0;       ///< bytes of A's residues
  std::int64_t right = 0;      ///< of those of a block of B's columns
  std::int64_t sums = 0;       ///< ints
  std::int64_t exponents = 0;  ///< rows of A and columns of B
};
/// Of products m x n x k by at most `moduli` moduli.
constexpr Room room_for(std::int64_t m, std::int64_t n, std::int64_t k, int moduli) {
  const std::int64_t width = padded(std::min(n, block_width(m)));
  return {moduli * padded(m) * padded(k), moduli * width * padded(k), moduli * width * padded(m), m + n};
}
inline std::size_t bytes_of(const Room& room) {
  return workspace_piece(room.left, 1) + workspace_piece(room.right, 1) +
         workspace_piece(room.sums, sizeof(int)) + workspace_piece(room.exponents + 2, sizeof(int));
}
/// Columns of a block: all, as many as are held at once, or a multiple of 16. Residues and sums of m rows,
/// `count` planes each, have room for that many.
constexpr std::int64_t block_columns(const Room& room, int count, std::int64_t m, std::int64_t n,
                                     std::int64_t k) {
  const std::int64_t most = std::min(room.right / (count * k), room.sums / (count * m)) / 16 * 16;
  return std::min({n, block_width(m), most});
}

}  // namespace gaussweep::residues
