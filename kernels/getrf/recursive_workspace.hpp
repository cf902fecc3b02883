#pragma once
/// What the recursive LU asks for, where no CUDA is needed to say it: recursive_lu.cuh.

#include <algorithm>
#include <cstdint>

#include "kernels/registry/method.hpp"

namespace gaussweep::lu {

constexpr int most_blocks = 16;  ///< in a cluster; more than 8 is what NVIDIA calls non-portable
constexpr int panel_threads = 256;
constexpr int cluster_rows = 2 * most_blocks * panel_threads;  ///< of a panel of 32 columns
constexpr int most_rows = 8 * cluster_rows;                    ///< of a panel of 4
constexpr int levels = 12;         ///< of row permutations: those of 64 columns, 128, ..., 131072
constexpr int most_at_once = 512;  ///< row exchanges, in a kernel that has a thread for each
constexpr int buffers = 132;       ///< of a column each, for more exchanges: they stay in the L2 cache

/// Of a matrix of our own: columns that begin at multiples of 32 elements, as products want them.
constexpr std::int64_t leading_dimension(std::int64_t n) {
  return (n + 31) / 32 * 32;
}
/// Whether a matrix of order n, its columns one after the other, is copied to be factored, and back. Products
/// of doubles are up to 1.5 times as fast where columns begin at multiples of 16 elements.
constexpr bool is_copied(std::int64_t n, std::size_t element) {
  return element == sizeof(double) && n >= 4096 && n % 16 != 0;
}

/// Bytes of workspace of a factorisation of order n.
inline std::size_t workspace_bytes(std::int64_t n, std::size_t element) {
  return workspace_piece((2 + 2 * levels) * n, sizeof(int)) +
         workspace_piece(n > most_at_once ? buffers * n : 0, element) +
         workspace_piece(is_copied(n, element) ? leading_dimension(n) * n : 0, element);
}

constexpr int solve_rows = 256;   ///< most rows of one triangular update
constexpr int window = 256;       ///< rows among which a panel looks for pivots where that is enough
constexpr int least_split = 256;  ///< inner size from which a product of floats goes to tensor cores
constexpr int most_inner = 1024;  ///< of one such product

/// Halves of each operand of such a product in a factorisation of order n.
inline std::int64_t split_elements(std::int64_t n) {
  return n <= least_split ? 0 : (n + 7) / 8 * 8 * 3 * std::min<std::int64_t>(n, most_inner);
}
/// Bytes of workspace for them, and for inverses of the triangles on the diagonal.
inline std::size_t split_bytes(std::int64_t n) {
  return 2 * workspace_piece(split_elements(n), 2) + workspace_piece(solve_rows * solve_rows, sizeof(float)) +
         workspace_piece(n / solve_rows * 3 * solve_rows * solve_rows, 2);
}

}  // namespace gaussweep::lu
