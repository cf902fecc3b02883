#pragma once
/// What gesv/mixed_gmres asks for, where no CUDA is needed to say it.

#include <algorithm>

#include "kernels/getrf/recursive_workspace.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/trsv/block_chain_workspace.hpp"

namespace gaussweep::mixed {

constexpr int most_iterations = 30;        ///< of one cycle of GMRES
constexpr int most_cycles = 4;             ///< a right-hand side
constexpr int slices = 32;                 ///< of the columns, summed up apart
constexpr int group = 256;                 ///< rows of a block
constexpr int sample = 64;                 ///< rows and columns that tell of the matrix before it is factored
constexpr int scalars = 128;               ///< that the host reads, and coefficients that it writes
constexpr std::int64_t most_nrhs = 8;      ///< with more of them refinement costs what it was to save
constexpr std::int64_t float_from = 5632;  ///< order from which on float saves more than it costs

constexpr std::int64_t groups(std::int64_t n) {
  return (n + group - 1) / group;
}

/// Bytes for the factors, made in float and with room to become double, their making, and the refinement.
inline std::size_t refinement_bytes(std::int64_t n) {
  return workspace_piece(lu::leading_dimension(n) * n, sizeof(double)) +
         lu::workspace_bytes(n, sizeof(float)) + lu::split_bytes(n) + workspace_piece(n + 1, sizeof(int)) +
         workspace_piece(static_cast<std::int64_t>(solve_lu_workspace(n, 1, sizeof(double))), 1) +
         // scales of rows and columns, the right-hand side, the solution
         4 * workspace_piece(n, sizeof(double)) + 2 * workspace_piece(slices * n, sizeof(double)) +
         // basis and directions
         workspace_piece((most_iterations + 1) * n, sizeof(double)) +
         workspace_piece(most_iterations * n, sizeof(double)) +
         workspace_piece((most_iterations + 1) * groups(n), sizeof(double)) +
         workspace_piece(scalars, sizeof(double));
}

/// Bytes for gesv/recursive, which takes their place where refinement is given up.
inline std::size_t direct_bytes(std::int64_t n, std::int64_t nrhs, std::size_t element) {
  return workspace_piece(n, sizeof(int)) +
         workspace_piece(static_cast<std::int64_t>(solve_lu_workspace(n, nrhs, element)), 1) +
         lu::workspace_bytes(n, element);
}

/// Whether float is tried at all; `from`: the parameter `float_from`.
inline bool worth_trying(std::int64_t n, std::int64_t nrhs, std::int64_t from) {
  return n >= from && nrhs <= most_nrhs;
}

inline std::size_t workspace_bytes(std::int64_t n, std::int64_t nrhs, std::size_t element,
                                   std::int64_t from) {
  const std::size_t direct = direct_bytes(n, nrhs, element);
  return worth_trying(n, nrhs, from) ? std::max(refinement_bytes(n), direct) : direct;
}

}  // namespace gaussweep::mixed
