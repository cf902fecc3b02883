#pragma once
/// How the workspace of block_products.cuh is divided.

#include "kernels/registry/method.hpp"

namespace gaussweep {

/// Elements, of which every part begins at a multiple of 256 bytes.
struct BlockProductsWorkspace {
  /// `order`: of the blocks, 64 times a power of two; `ld`: of a right-hand side.
  constexpr BlockProductsWorkspace(std::int64_t n, std::int64_t nrhs, std::int64_t order, std::int64_t ld)
      : count((n + order - 1) / order), inverses(count * order * order), solved(ld * nrhs) {}

  /// Also of the products on the way to the inverses, which are not needed beside `solved`.
  constexpr std::int64_t elements() const { return 2 * inverses + std::max(inverses / 4, solved); }

  std::int64_t count;     ///< of blocks
  std::int64_t inverses;  ///< elements of one triangle's
  std::int64_t solved;
};

}  // namespace gaussweep
