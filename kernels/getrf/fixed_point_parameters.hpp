#pragma once
/// Parameters, cost and workspace that getrf/fixed_point and gesv/lu_fixed_point share.

#include <algorithm>
#include <vector>

#include "kernels/registry/method.hpp"

namespace gaussweep {

inline std::vector<Parameter> fixed_point_parameters() {
  return {choice_parameter("update", {"double_buffered", "in_place"},
                           "every element from the last iterate, or from the current values"),
          choice_parameter("start", {"matrix", "scaled"},
                           "L and U start as the triangles of A, or with U's rows divided by the diagonal"),
          real_parameter("change_tolerance", 0, 0, 1e300,
                         "ends if no element changes by more than this; 0: if no element changes"),
          integer_parameter("max_iterations", 0, 0, 1 << 30,
                            "most iterations; 0: 2 n, after which no element can change")};
}

/// Returns the estimated number of iterations: 20, as for diagonally dominant matrices. Others may take 2 n.
inline double fixed_point_iterations(const Shape& shape, const Parameters& parameters) {
  const std::int64_t requested = parameters.integer("max_iterations");
  return static_cast<double>(std::min<std::int64_t>(20, requested > 0 ? requested : 2 * shape.n));
}

/// Returns the bytes for the changes of an iteration and, if double-buffered, for a second iterate.
inline std::size_t fixed_point_workspace(const Shape& shape, const Parameters& parameters,
                                         std::size_t element) {
  const std::size_t changes = workspace_piece(2, sizeof(unsigned long long));
  if (parameters.choice("update") == "in_place") return changes;
  return changes + workspace_piece(shape.n * shape.n, element);
}

}  // namespace gaussweep
