#pragma once
/// What geinv/recursive asks for, where no CUDA is needed to say it.

#include "kernels/getrf/recursive_workspace.hpp"
#include "kernels/trtri/levels_workspace.hpp"

namespace gaussweep {

/// n pivots, what LU asks for, the diagonal of U, and two matrices; a third one where n is no multiple of 64.
inline std::size_t geinv_recursive_workspace(std::int64_t n, std::size_t element) {
  const std::int64_t order = levels::whole_order(n);
  const std::size_t matrix = workspace_piece(order * order, element);
  return workspace_piece(order, sizeof(int)) + lu::workspace_bytes(order, element) +
         workspace_piece(order, element) + (order == n ? 2 : 3) * matrix;
}

}  // namespace gaussweep
