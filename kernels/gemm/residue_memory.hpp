#pragma once
/// Workspace of the products by residues. Needs no kernels.

#include <algorithm>
#include <cstdint>

#include "kernels/gemm/residue_numbers.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::residues {

/// Rounds up to a multiple of 16, which products of bytes (8-bit integers) require.
constexpr std::int64_t padded(std::int64_t size) {
  return (size + 15) / 16 * 16;
}
/// Returns the number of columns per block of C: 2^25 sums per modulus, but at least 2048 columns. Fewer
/// columns are slower, and more columns are not faster. A multiple of 256 fills the tiles of the products.
constexpr std::int64_t block_width(std::int64_t m) {
  return std::max<std::int64_t>(2048, (1 << 25) / padded(m) / 256 * 256);
}
/// Workspace sizes for one product, or for the largest of several.
struct Capacity {
  std::int64_t left = 0;       ///< bytes of A's residues
  std::int64_t right = 0;      ///< bytes of the residues of a block of B's columns
  std::int64_t sums = 0;       ///< ints: one per modulus and element of a block of C
  std::int64_t exponents = 0;  ///< ints: rows of A + columns of B
};
/// Returns the sizes for products m x n x k with at most `moduli` moduli.
constexpr Capacity capacity_for(std::int64_t m, std::int64_t n, std::int64_t k, int moduli) {
  const std::int64_t width = padded(std::min(n, block_width(m)));
  return {moduli * padded(m) * padded(k), moduli * width * padded(k), moduli * width * padded(m), m + n};
}
inline std::size_t bytes_of(const Capacity& capacity) {
  return workspace_piece(capacity.left, 1) + workspace_piece(capacity.right, 1) +
         workspace_piece(capacity.sums, sizeof(int)) + workspace_piece(capacity.exponents + 2, sizeof(int));
}
/// Returns the number of columns per block of C: the largest multiple of 16 whose residues and sums for
/// `count` moduli fit in `capacity`, but at most block_width(m) and n.
constexpr std::int64_t block_columns(const Capacity& capacity, int count, std::int64_t m, std::int64_t n,
                                     std::int64_t k) {
  const std::int64_t fitting = std::min(capacity.right / (count * k), capacity.sums / (count * m)) / 16 * 16;
  return std::min({n, block_width(m), fitting});
}

}  // namespace gaussweep::residues
