#pragma once
/// The workspace of poinv/recursive, in a header that needs no CUDA.

#include "kernels/geinv/recursive_workspace.hpp"
#include "kernels/potrf/recursive_workspace.hpp"

namespace gaussweep {

/// Returns the bytes of workspace: the inverse of the factor, geinv_recursive_elements(), the reciprocals of
/// the diagonal, and the workspace of potrf/recursive (tiles::workspace_bytes).
/// @param element bytes per element
inline std::size_t poinv_recursive_workspace(std::int64_t n, std::size_t element) {
  const std::int64_t order = levels::padded_order(n);
  Shape shape;
  shape.n = n;
  return aligned_workspace_bytes(order * order, element) +
         aligned_workspace_bytes(geinv_recursive_elements(order), element) +
         aligned_workspace_bytes(order, element) + tiles::workspace_bytes(shape, element);
}

}  // namespace gaussweep
