#pragma once
/// Fills one triangle of a symmetric matrix on several GPUs from the other.

#include <vector>

#include "kernels/registry/column_blocks.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// Fills the other triangle from the triangle `uplo`; GPUs read the parts of others. Asynchronous on the
/// first GPU's stream. @pre blocks.width is a multiple of 32
template <class T>
void mirror_columns(Context& context, Uplo uplo, const ColumnBlocks& blocks,
                    std::vector<OperandPart<T>>& parts);

}  // namespace gaussweep::GAUSSWEEP_BACKEND
