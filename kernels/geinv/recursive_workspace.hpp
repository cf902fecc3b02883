#pragma once
/// Workspace sizes of geinv/recursive, in a header that does not need CUDA.

#include <algorithm>

#include "kernels/getrf/workspaces.hpp"
#include "kernels/trtri/levels_workspace.hpp"

namespace gaussweep {

/// Returns the number of scratch elements, which first hold products of L's inverse and then the reversed
/// triangles of U.
constexpr std::int64_t geinv_recursive_elements(std::int64_t order) {
  return std::max(levels::workspace_elements(order), order * lu::max_solve_rows_per_launch);
}

/// Returns the bytes of workspace: pivots, LU's workspace, the reciprocals of U's diagonal,
/// geinv_recursive_elements() and the inverse. If n is not a multiple of 16, a padded copy of A is added.
inline std::size_t geinv_recursive_workspace(std::int64_t n, std::size_t element) {
  const std::int64_t order = levels::padded_order(n);
  return aligned_workspace_bytes(order, sizeof(int)) + lu::workspace_bytes(order, element) +
         aligned_workspace_bytes(order, element) +
         aligned_workspace_bytes(geinv_recursive_elements(order), element) +
         (order == n ? 1 : 2) * aligned_workspace_bytes(order * order, element);
}

}  // namespace gaussweep
