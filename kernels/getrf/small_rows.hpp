#pragma once
/// What the tables know of small systems: rows in registers (small_rows.cuh), or panels of them (panels.cuh).

#include <string>
#include <vector>

#include "kernels/core/matrix.hpp"
#include "kernels/registry/parameters.hpp"

namespace gaussweep::batched {

constexpr std::int64_t most_rows = 128, most_of_panels = 512;

inline std::vector<Parameter> parameters() {
  return {choice_parameter("kernel", {"auto", "rows", "panels"},
                           "whole rows in registers, to order 128, or panels of 32 columns; auto: rows to "
                           "order 48, geinv to 128")};
}

inline bool accepts(const Shape& shape, const Parameters& parameters) {
  return shape.n <= (parameters.choice("kernel") == "rows" ? most_rows : most_of_panels);
}

/// @param last the last order of which rows are faster
inline bool is_by_panels(std::int64_t n, const Parameters& parameters, std::int64_t last) {
  const std::string& kernel = parameters.choice("kernel");
  return kernel == "auto" ? n > last : kernel == "panels";
}
/// Of LU and Cholesky, as measured on an H100 (docs/performance.md).
constexpr std::int64_t rows_to = 48;

}  // namespace gaussweep::batched
