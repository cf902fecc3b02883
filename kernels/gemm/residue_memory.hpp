#pragma once
/// What the products by residues take of the workspace, where no kernel is needed to say it.

#include <algorithm>
#include <cstdint>

#include "kernels/core/method.hpp"
#include "kernels/gemm/residue_numbers.hpp"

namespace gaussweep::residues {

constexpr std::int64_t block_width = 2048;  ///< columns of C whose sums are held at once

constexpr std::int64_t padded(std::int64_t size) {
  return (size + 15) / 16 * 16;
}
constexpr std::int64_t left_bytes(std::int64_t m, std::int64_t k, int moduli) {
  return moduli * padded(m) * padded(k);
}
constexpr std::int64_t right_bytes(std::int64_t n, std::int64_t k, int moduli) {
  return moduli * padded(std::min(n, block_width)) * padded(k);
}
constexpr std::int64_t sums_count(std::int64_t m, std::int64_t n, int moduli) {
  return moduli * padded(m) * padded(std::min(n, block_width));
}
/// Columns of a block: all, or a multiple of 16 of which both bytes and sums have room.
constexpr std::int64_t block_columns(std::int64_t n, std::int64_t bytes_for, std::int64_t sums_for) {
  return std::min(n, std::min(bytes_for, sums_for) / 16 * 16);
}
/// Of a ResidueProducts for products m x n x k by at most `moduli` moduli.
inline std::size_t memory_bytes(std::int64_t m, std::int64_t n, std::int64_t k, int moduli) {
  return workspace_piece(left_bytes(m, k, moduli), 1) + workspace_piece(right_bytes(n, k, moduli), 1) +
         workspace_piece(sums_count(m, n, moduli), sizeof(int)) + workspace_piece(m + n, sizeof(int)) +
         workspace_piece(2, sizeof(int));
}

}  // namespace gaussweep::residues
