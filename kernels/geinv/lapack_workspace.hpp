#pragma once
/// What geinv/lapack asks for beside its operands.

#include "kernels/core/method.hpp"

namespace gaussweep {

/// Columns that xGETRI takes at a time: LAPACK's own choice for all common libraries.
constexpr std::int64_t getri_block = 64;

inline std::size_t geinv_lapack_workspace(const Shape& shape, const Parameters&, std::size_t element) {
  return workspace_piece(shape.n, sizeof(int)) + workspace_piece(shape.n * getri_block, element);
}

}  // namespace gaussweep
