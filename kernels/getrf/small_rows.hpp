#pragma once
/// Parameters and thresholds of batched methods: rows in registers (small_rows.cuh) or panels (panels.cuh).

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/core/matrix.hpp"
#include "kernels/registry/parameters.hpp"

namespace gaussweep::batched {

constexpr std::int64_t most_rows = 128, most_inverted = 64, most_of_panels = 512;

inline std::vector<Parameter> parameters() {
  return {choice_parameter("kernel", {"auto", "rows", "panels"},
                           "whole rows in registers, to order 128, geinv to 64, or panels of 16 or 32 "
                           "columns, from order 4 on; auto: rows to order 16 to 64")};
}

inline bool accepts(const Shape& shape, const Parameters& parameters) {
  return shape.n <= (parameters.choice("kernel") == "rows" ? most_rows : most_of_panels);
}

inline bool accepts_inverse(const Shape& shape, const Parameters& parameters) {
  return shape.n <= (parameters.choice("kernel") == "rows" ? most_inverted : most_of_panels);
}

/// Returns true if the panel kernels factor order n. Up to order 3 only rows in registers round as rarely as
/// LAPACK. @param last the largest order at which rows in registers are faster
inline bool is_by_panels(std::int64_t n, const Parameters& parameters, std::int64_t last) {
  const std::string& kernel = parameters.choice("kernel");
  return kernel == "auto" ? n > last : kernel == "panels" && n > 3;
}
/// Returns true if geinv/batched in double computes LU first and then the inverse column by column
/// (geinv/factored_columns.cuh).
inline bool inverts_by_columns(std::int64_t n, const Parameters& parameters) {
  return is_by_panels(n, parameters, 16);
}
/// Returns the largest order at which rows in registers are faster for LU, measured on an H200
/// (docs/performance.md). The limit falls with `nrhs`, because these kernels factor A once per four
/// right-hand sides.
constexpr std::int64_t rows_to(std::size_t element, std::int64_t nrhs = 1) {
  return std::min<std::int64_t>(element == 8 ? 32 : 48, 64 / ((nrhs + 3) / 4));
}

}  // namespace gaussweep::batched
