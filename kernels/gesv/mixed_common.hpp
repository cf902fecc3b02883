#pragma once
/// What the solvers in mixed precision (gesv/mixed_gmres, posv/mixed_gmres) have in common, where no CUDA is
/// needed to say it.

#include <algorithm>

#include "kernels/registry/method.hpp"
#include "kernels/trsv/block_chain_workspace.hpp"
#include "kernels/trsv/block_products.hpp"

namespace gaussweep::mixed {

constexpr int most_iterations = 30;  ///< of one cycle of GMRES
constexpr int most_cycles = 4;       ///< a right-hand side
constexpr int slices = 32;           ///< of the columns, summed up apart
constexpr int group = 256;           ///< rows of a block
constexpr int sample = 64;           ///< rows and columns that tell of the matrix before it is factored
constexpr int scalars = 16;          ///< that the host reads of the matrix
constexpr int readings = most_iterations + 4;  ///< that it reads of a right-hand side
constexpr std::int64_t most_at_once = 64;      ///< right-hand sides
constexpr std::int64_t products_from = 9;      ///< of them: from here on, products apply the factors
constexpr std::int64_t block_order = 512;      ///< of the inverses that this needs
constexpr unsigned vendor_from = 9;            ///< right-hand sides of the vendor's product with A, in double
constexpr int most_of_slice = 8;               ///< those of a thread in ours

/// Right-hand sides of one thread of the products with A, and its rows.
constexpr int rows_of_slice(int nrhs) {
  return nrhs == 1 ? 1 : 2;
}

constexpr std::int64_t groups(std::int64_t n) {
  return (n + group - 1) / group;
}

constexpr int band = 128;  ///< rows and columns of a tile of a product with a symmetric matrix
constexpr std::int64_t bands(std::int64_t n) {
  return (n + band - 1) / band;
}
/// Vectors of the sums that a product with A is made of.
inline std::int64_t sums_of_product(std::int64_t n, std::int64_t nrhs) {
  return std::max(slices * std::min<std::int64_t>(nrhs, most_of_slice), bands(n));
}

/// Bytes for applying the factors to so many right-hand sides at once; `ld`: of a right-hand side.
inline std::size_t solving_bytes(std::int64_t n, std::int64_t nrhs, std::int64_t ld) {
  if (nrhs < products_from) return solve_lu_workspace(n, nrhs, sizeof(double));
  const BlockProductsWorkspace room(n, nrhs, block_order, ld);
  return workspace_piece(room.elements(), sizeof(double));
}

/// Bytes for the factors, made in float and with room to become double, and for refining so many right-hand
/// sides at once. What makes the factors is not counted.
inline std::size_t iteration_bytes(std::int64_t n, std::int64_t nrhs, std::int64_t ld) {
  const std::int64_t all = ld * nrhs;
  return workspace_piece(ld * ld, sizeof(double)) + solving_bytes(n, nrhs, ld) +
         // scales of rows and columns, residuals, the solution
         2 * workspace_piece(n, sizeof(double)) + 2 * workspace_piece(all, sizeof(double)) +
         workspace_piece(sums_of_product(n, nrhs) * ld, sizeof(double)) +
         workspace_piece(slices * n, sizeof(double)) +
         // basis and directions
         workspace_piece((most_iterations + 1) * all, sizeof(double)) +
         workspace_piece(most_iterations * all, sizeof(double)) +
         workspace_piece((most_iterations + 2) * groups(n) * nrhs, sizeof(double)) +
         workspace_piece(scalars + (readings + most_iterations) * nrhs, sizeof(double));
}

}  // namespace gaussweep::mixed
