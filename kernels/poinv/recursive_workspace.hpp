#pragma once
/// What poinv/recursive asks for, where no CUDA is needed to say it.

#include "kernels/trtri/levels_workspace.hpp"

namespace gaussweep {

/// The inverse of the factor, products on their way, and a copy of the matrix where n is no multiple of 64.
constexpr std::size_t poinv_recursive_workspace(std::int64_t n, std::size_t element) {
  const std::int64_t order = levels::whole_order(n);
  return (order == n ? 1 : 2) * workspace_piece(order * order, element) +
         workspace_piece(levels::product_elements(order), element);
}

}  // namespace gaussweep
