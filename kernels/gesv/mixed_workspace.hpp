#pragma once
/// What gesv/mixed_gmres asks for, where no CUDA is needed to say it.

#include <algorithm>

#include "kernels/getrf/recursive_workspace.hpp"
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

/// Bytes for applying the factors to so many right-hand sides at once.
inline std::size_t solving_bytes(std::int64_t n, std::int64_t nrhs) {
  if (nrhs < products_from) return solve_lu_workspace(n, nrhs, sizeof(double));
  const BlockProductsWorkspace room(n, nrhs, block_order, lu::leading_dimension(n));
  return workspace_piece(room.elements(), sizeof(double));
}

/// Bytes for the factors, made in float and with room to become double, their making, and the refinement of
/// so many right-hand sides at once.
inline std::size_t refinement_bytes(std::int64_t n, std::int64_t nrhs) {
  const std::int64_t ld = lu::leading_dimension(n);
  const std::int64_t all = ld * nrhs;
  return workspace_piece(ld * n, sizeof(double)) + lu::workspace_bytes(n, sizeof(float)) +
         lu::split_bytes(n) + workspace_piece(n + 1, sizeof(int)) + solving_bytes(n, nrhs) +
         // scales of rows and columns, residuals, the solution
         2 * workspace_piece(n, sizeof(double)) + 2 * workspace_piece(all, sizeof(double)) +
         workspace_piece(slices * std::min<std::int64_t>(nrhs, most_of_slice) * ld, sizeof(double)) +
         workspace_piece(slices * n, sizeof(double)) +
         // basis and directions
         workspace_piece((most_iterations + 1) * all, sizeof(double)) +
         workspace_piece(most_iterations * all, sizeof(double)) +
         workspace_piece((most_iterations + 2) * groups(n) * nrhs, sizeof(double)) +
         workspace_piece(scalars + (readings + most_iterations) * nrhs, sizeof(double));
}

/// Bytes for gesv/recursive, which takes their place where refinement is given up.
inline std::size_t direct_bytes(std::int64_t n, std::int64_t nrhs, std::size_t element) {
  return workspace_piece(n, sizeof(int)) +
         workspace_piece(static_cast<std::int64_t>(solve_lu_workspace(n, nrhs, element)), 1) +
         lu::workspace_bytes(n, element);
}

/// Milliseconds that gesv/recursive takes on an H100 or H200: products at the rate of DGEMM, panels, of
/// which a column takes the longer the more rows it has, and the solves' chain, which reads the factors once
/// for eight right-hand sides.
inline double direct_ms(double n, std::int64_t nrhs) {
  const double thousands = n / 1000;
  const double square = thousands * thousands;
  const double factor = 0.0116 * square * thousands + 0.8 * thousands + 0.08 * square;
  const double solve = 0.03 * thousands + 0.0015 * square;
  const auto eights = static_cast<double>((nrhs + 7) / 8);
  return factor + solve * (nrhs == 1 ? 1 : nrhs <= 4 ? 1.2 : 1.6 * eights);
}

/// The same with factors in float and the six iterations of a uniform matrix: between what an H200 takes and
/// the 0.5 to 1 ms more of an H100. An iteration reads A and the factors once for all right-hand sides.
inline double refined_ms(double n, std::int64_t nrhs) {
  const double thousands = n / 1000;
  const double square = thousands * thousands;
  constexpr double iterations = 6;
  double all = 0.003 * square * thousands + 0.9 * thousands + 0.048 * square;
  for (std::int64_t done = 0; done < nrhs; done += most_at_once) {
    const auto count = static_cast<double>(std::min(nrhs - done, most_at_once));
    const double apply = nrhs < products_from ? (0.0465 + 0.002 * count) * thousands
                                              : 0.14 + 0.095 * thousands + 0.0015 * square;
    all += iterations * (0.06 + 0.002 * count + apply + 0.0036 * square);
  }
  return all;
}

/// Whether float is tried at all; `from`: the parameter `float_from`.
inline bool worth_trying(std::int64_t n, std::int64_t nrhs, std::int64_t from) {
  if (from > 0) return n >= from;
  const auto order = static_cast<double>(n);
  return refined_ms(order, nrhs) < direct_ms(order, nrhs);
}

inline std::size_t workspace_bytes(std::int64_t n, std::int64_t nrhs, std::size_t element,
                                   std::int64_t from) {
  const std::size_t direct = direct_bytes(n, nrhs, element);
  return worth_trying(n, nrhs, from) ? std::max(refinement_bytes(n, std::min(nrhs, most_at_once)), direct)
                                     : direct;
}

}  // namespace gaussweep::mixed
