#pragma once
/// The layout of the workspace of block_products.cuh.

#include <algorithm>

#include "kernels/trtri/levels_workspace.hpp"

namespace gaussweep {

/// Sizes in elements; every part begins at a multiple of 256 bytes.
struct BlockProductsWorkspace {
  /// `order`: order of the blocks, 64 times a power of two; `ld`: leading dimension of the right-hand sides.
  constexpr BlockProductsWorkspace(std::int64_t n, std::int64_t nrhs, std::int64_t order, std::int64_t ld)
      : count((n + order - 1) / order),
        inverses(count * order * order),
        solved(std::max(ld * nrhs, levels::workspace_elements(order, count))) {}

  /// Returns the number of elements of the workspace.
  constexpr std::int64_t elements() const { return 2 * inverses + solved; }

  std::int64_t count;     ///< number of blocks
  std::int64_t inverses;  ///< elements of the inverses of one triangle
  std::int64_t solved;    ///< elements of the inversion's workspace, then of the solved right-hand sides
};

}  // namespace gaussweep
