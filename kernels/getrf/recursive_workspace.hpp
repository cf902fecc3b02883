#pragma once
/// Constants and workspace of the recursive LU (recursive_lu.cuh). Needs no CUDA.

#include <algorithm>
#include <cstdint>

#include "kernels/registry/method.hpp"

namespace gaussweep::lu {

constexpr int max_blocks = 16;  ///< thread blocks per cluster; NVIDIA calls more than 8 non-portable
constexpr int panel_threads = 256;
constexpr int cluster_rows = 2 * max_blocks * panel_threads;  ///< largest row count of a panel of 32 columns
constexpr int max_rows = 8 * cluster_rows;                    ///< largest row count of a panel of 4 columns
constexpr int levels = 12;  ///< levels of row permutations, for parts of 64, 128, ..., 131072 columns
constexpr int max_few_exchanges = 512;  ///< largest number of row exchanges with one thread per exchange
constexpr int column_buffers = 132;     ///< column buffers for more exchanges; they fit in L2

/// Returns the leading dimension of internal matrices: products are fast with a multiple of 32 elements.
constexpr std::int64_t leading_dimension(std::int64_t n) {
  return (n + 31) / 32 * 32;
}
/// Returns true if a contiguous matrix of order n is factored in a copy with leading_dimension(n). Products
/// of doubles are up to 1.5 times as fast if columns begin at multiples of 16 elements.
constexpr bool is_copied(std::int64_t n, std::size_t element) {
  return element == sizeof(double) && n >= 4096 && n % 16 != 0;
}

/// Returns the bytes of workspace for a factorisation of order n.
inline std::size_t workspace_bytes(std::int64_t n, std::size_t element) {
  return workspace_piece((2 + 2 * levels) * n, sizeof(int)) +
         workspace_piece(n > max_few_exchanges ? column_buffers * n : 0, element) +
         workspace_piece(is_copied(n, element) ? leading_dimension(n) * n : 0, element);
}

constexpr int solve_rows = 256;    ///< largest row count of a triangular update in one launch
constexpr int window = 256;        ///< rows that the window panel (window_panel.cuh) searches for pivots
constexpr int min_split_k = 256;   ///< smallest k of a float product on tensor cores
constexpr int max_split_k = 1024;  ///< largest k of one such product

/// Returns the number of halves (16-bit floats) per operand of such a product, for a factorisation of order
/// n.
inline std::int64_t split_elements(std::int64_t n) {
  return n <= min_split_k ? 0 : (n + 7) / 8 * 8 * 3 * std::min<std::int64_t>(n, max_split_k);
}
/// Returns the bytes of workspace for both operands in halves and for inverted diagonal triangles.
inline std::size_t split_bytes(std::int64_t n) {
  return 2 * workspace_piece(split_elements(n), 2) + workspace_piece(solve_rows * solve_rows, sizeof(float)) +
         workspace_piece(n / solve_rows * 3 * solve_rows * solve_rows, 2);
}

}  // namespace gaussweep::lu
