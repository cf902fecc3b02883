#pragma once
/// What the tables know of small systems: rows in registers (small_rows.cuh), tiles (small_tiles.cuh), or
/// panels (panels.cuh).

#include <string>
#include <vector>

#include "kernels/core/matrix.hpp"
#include "kernels/registry/parameters.hpp"

namespace gaussweep::batched {

enum class Kernel { rows, tiles, panels };
/// Orders that each of them takes.
constexpr std::int64_t most_rows = 32, most_of_tiles = 128, most_of_panels = 512;

inline std::vector<Parameter> parameters(std::vector<std::string> kernels = {"auto", "rows", "tiles",
                                                                             "panels"}) {
  return {choice_parameter("kernel", std::move(kernels),
                           "a thread a row to order 32, tiles of a block's registers to order 128, or panels "
                           "of 32 columns; auto: the fastest")};
}

inline bool accepts(const Shape& shape, const Parameters& parameters) {
  const std::string& kernel = parameters.choice("kernel");
  return shape.n <= (kernel == "rows" ? most_rows : kernel == "tiles" ? most_of_tiles : most_of_panels);
}

/// @param last_of_rows, last_of_tiles the last orders of which these are faster
inline Kernel kernel_for(std::int64_t n, const Parameters& parameters, std::int64_t last_of_rows,
                         std::int64_t last_of_tiles) {
  const std::string& kernel = parameters.choice("kernel");
  if (kernel == "auto")
    return n <= last_of_rows ? Kernel::rows : n <= last_of_tiles ? Kernel::tiles : Kernel::panels;
  return kernel == "rows" ? Kernel::rows : kernel == "tiles" ? Kernel::tiles : Kernel::panels;
}

}  // namespace gaussweep::batched
