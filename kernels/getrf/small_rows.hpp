#pragma once
/// What the tables know of small systems whose rows lie in registers (small_rows.cuh).

#include "kernels/core/matrix.hpp"
#include "kernels/registry/parameters.hpp"

namespace gaussweep::small {

constexpr std::int64_t most_rows = 128;

inline bool accepts(const Shape& shape, const Parameters&) {
  return shape.n <= most_rows;
}

}  // namespace gaussweep::small
