#pragma once
/// What poinv/recursive asks for, where no CUDA is needed to say it.

#include "kernels/geinv/recursive_workspace.hpp"
#include "kernels/potrf/recursive_workspace.hpp"

namespace gaussweep {

/// The inverse of the factor, elements and reciprocals as in geinv/recursive, and what the factorisation
/// wants, with its copy of the matrix where n is no multiple of 64.
inline std::size_t poinv_recursive_workspace(std::int64_t n, std::size_t element) {
  const std::int64_t order = levels::whole_order(n);
  Shape shape;
  shape.n = n;
  return workspace_piece(order * order, element) + workspace_piece(geinv_recursive_elements(order), element) +
         workspace_piece(order, element) + tiles::workspace_bytes(shape, element);
}

}  // namespace gaussweep
