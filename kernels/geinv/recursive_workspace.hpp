#pragma once
/// Workspace sizes of geinv/recursive, in a header that does not need CUDA.

#include <algorithm>

#include "kernels/getrf/recursive_workspace.hpp"
#include "kernels/trtri/levels_workspace.hpp"

namespace gaussweep {

/// Returns the elements for the products of the inverse of L, which the reversed triangles of U use
/// afterwards.
constexpr std::int64_t geinv_recursive_elements(std::int64_t order) {
  return std::max(levels::workspace_elements(order), order * lu::solve_rows);
}

/// Returns the bytes of n pivots, LU's workspace, reciprocals of U's diagonal, these elements and a matrix,
/// or two matrices if n is no multiple of 16.
inline std::size_t geinv_recursive_workspace(std::int64_t n, std::size_t element) {
  const std::int64_t order = levels::whole_order(n);
  return workspace_piece(order, sizeof(int)) + lu::workspace_bytes(order, element) +
         workspace_piece(order, element) + workspace_piece(geinv_recursive_elements(order), element) +
         (order == n ? 1 : 2) * workspace_piece(order * order, element);
}

}  // namespace gaussweep
