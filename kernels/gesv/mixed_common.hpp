#pragma once
/// The constants and workspace sizes that the mixed-precision solvers (gesv/mixed_gmres, posv/mixed_gmres)
/// share. Needs no CUDA.

#include <algorithm>

#include "kernels/registry/method.hpp"
#include "kernels/trsv/block_chain_workspace.hpp"
#include "kernels/trsv/block_products.hpp"

namespace gaussweep::mixed {

constexpr int most_iterations = 30;            ///< iterations per GMRES cycle
constexpr int most_cycles = 4;                 ///< GMRES cycles per right-hand side
constexpr int slices = 32;                     ///< column slices of A with separate partial sums
constexpr int group = 256;                     ///< rows (and threads) per block
constexpr int sample = 64;                     ///< rows and columns sampled before the factorisation
constexpr int scalars = 16;                    ///< doubles reserved for Scalars
constexpr int readings = most_iterations + 4;  ///< doubles in Readings
constexpr std::int64_t most_at_once = 64;      ///< right-hand sides refined together
constexpr std::int64_t products_from =
    9;  ///< nrhs from which products with inverted blocks apply the factors
constexpr std::int64_t block_order = 512;  ///< order of these inverted diagonal blocks
constexpr unsigned vendor_from = 9;        ///< nrhs from which the vendor multiplies with A (double)
constexpr int most_of_slice = 8;           ///< right-hand sides per thread in multiply_slice

/// Returns the rows per thread of multiply_slice with nrhs right-hand sides per thread.
constexpr int rows_of_slice(int nrhs) {
  return nrhs == 1 ? 1 : 2;
}

constexpr std::int64_t groups(std::int64_t n) {
  return (n + group - 1) / group;
}

constexpr int band = 128;  ///< order of a tile of multiply_triangle
constexpr std::int64_t bands(std::int64_t n) {
  return (n + band - 1) / band;
}
/// Returns the number of vectors of partial sums in a product with A.
inline std::int64_t sums_of_product(std::int64_t n, std::int64_t nrhs) {
  return std::max(slices * std::min<std::int64_t>(nrhs, most_of_slice), bands(n));
}

/// Returns the bytes for applying the factors to `nrhs` right-hand sides together; `ld`: their leading
/// dimension.
inline std::size_t solving_bytes(std::int64_t n, std::int64_t nrhs, std::int64_t ld) {
  if (nrhs < products_from) return solve_lu_workspace(n, nrhs, sizeof(double));
  const BlockProductsWorkspace room(n, nrhs, block_order, ld);
  return workspace_piece(room.elements(), sizeof(double));
}

/// Returns the bytes for the factors (float, with room to convert them to double) and for refining `nrhs`
/// right-hand sides together. Excludes the workspace of the factorisation.
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
