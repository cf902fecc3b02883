#pragma once
/// Parameters and thresholds of batched methods: rows in registers (small_rows.cuh) or panels (panels.cuh).

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/core/matrix.hpp"
#include "kernels/registry/parameters.hpp"

namespace gaussweep::batched {

/// Largest orders: with rows in registers, of an inverse with rows in registers, and with panels.
constexpr std::int64_t max_rows = 128, max_inverted = 64, max_panel_order = 512;

inline std::vector<Parameter> parameters() {
  return {choice_parameter("kernel", {"auto", "rows", "panels"},
                           "whole rows in registers, to order 128, geinv to 64, or panels of 16 or 32 "
                           "columns; auto: rows to order 16 to 64")};
}

inline bool accepts(const Shape& shape, const Parameters& parameters) {
  return shape.n <= (parameters.choice("kernel") == "rows" ? max_rows : max_panel_order);
}

inline bool accepts_inverse(const Shape& shape, const Parameters& parameters) {
  return shape.n <= (parameters.choice("kernel") == "rows" ? max_inverted : max_panel_order);
}

/// Returns true if the panel kernels factor order n. @param last the largest order at which rows in registers
/// are faster
inline bool uses_panels(std::int64_t n, const Parameters& parameters, std::int64_t last) {
  const std::string& kernel = parameters.choice("kernel");
  return kernel == "auto" ? n > last : kernel == "panels";
}
/// Returns true if geinv/batched in double computes LU first and then the inverse column by column
/// (geinv/factored_columns.cuh).
inline bool inverts_by_columns(std::int64_t n, const Parameters& parameters) {
  return uses_panels(n, parameters, 16);
}
/// Returns the largest order at which rows in registers are faster than panels for LU, measured on an H200
/// (docs/performance.md). The limit falls with `nrhs`, because kernels with rows in registers factor A again
/// for every four right-hand sides.
constexpr std::int64_t max_rows_order(std::size_t element_bytes, std::int64_t nrhs = 1) {
  return std::min<std::int64_t>(element_bytes == 8 ? 32 : 48, 64 / ((nrhs + 3) / 4));
}

}  // namespace gaussweep::batched
