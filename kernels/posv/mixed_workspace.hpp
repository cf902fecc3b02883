#pragma once
/// Workspace sizes of posv/recursive and posv/mixed_gmres, in a header that does not need CUDA.

#include <algorithm>

#include "kernels/gesv/mixed_common.hpp"
#include "kernels/potrf/recursive_workspace.hpp"

namespace gaussweep::definite {

/// Returns the bytes of workspace of posv/recursive, to which posv/mixed_gmres falls back.
inline std::size_t direct_bytes(const Shape& shape, std::size_t element) {
  return tiles::workspace_bytes(shape, element) +
         workspace_piece(static_cast<std::int64_t>(solve_lu_workspace(shape.n, shape.nrhs, element)), 1);
}

/// Returns the shape of the matrix that is factored in float: its order is padded to whole tiles, and its
/// lower triangle is stored.
inline Shape padded_shape(std::int64_t n) {
  const std::int64_t order = tiles::padded(n);
  return {order, order, order, 1, Uplo::lower};
}

/// Returns the bytes for factoring in float and refining `nrhs` right-hand sides together.
inline std::size_t refinement_bytes(std::int64_t n, std::int64_t nrhs) {
  return mixed::iteration_bytes(n, nrhs, tiles::padded(n)) +
         tiles::workspace_bytes(padded_shape(n), sizeof(float)) + tiles::split_bytes(n) +
         workspace_piece(1, sizeof(int));
}

/// Returns the expected milliseconds of posv/recursive on an H200: the critical path of the factorisation,
/// its products, and the solves. The solve kernel reads the factor once per eight right-hand sides.
inline double direct_ms(double n, std::int64_t nrhs) {
  const double thousands = n / 1000;
  const double square = thousands * thousands;
  const double critical_path = 0.135 * thousands, products = 0.0068 * square * thousands;
  const double solve = 0.03 * thousands + 0.0015 * square;
  const auto passes = static_cast<double>((nrhs + 7) / 8);
  return critical_path + products + solve * (nrhs == 1 ? 1 : nrhs <= 4 ? 1.2 : 1.6 * passes);
}

/// Returns the expected milliseconds of posv/mixed_gmres on an H200, with a factor in float and five
/// iterations.
inline double refined_ms(double n, std::int64_t nrhs) {
  const double thousands = n / 1000;
  const double square = thousands * thousands;
  constexpr double iterations = 5;
  double time = 0.0018 * square * thousands + 0.012 * square + 0.25 * thousands + 0.5;
  for (std::int64_t first = 0; first < nrhs; first += mixed::max_rhs_per_group) {
    const auto count = static_cast<double>(std::min(nrhs - first, mixed::max_rhs_per_group));
    const double apply = nrhs < mixed::min_rhs_for_products ? (0.024 + 0.002 * count) * thousands
                                                            : 0.14 + 0.095 * thousands + 0.0015 * square;
    time += iterations * (0.08 + 0.002 * count + apply + (nrhs == 1 ? 0.0015 : 0.0036) * square);
  }
  return time;
}

/// Returns true if posv/mixed_gmres tries a factor in float.
/// @param from the parameter `float_from`; if it is 0, the expected times are compared
inline bool worth_trying(std::int64_t n, std::int64_t nrhs, std::int64_t from) {
  if (from > 0) return n >= from;
  const auto order = static_cast<double>(n);
  return refined_ms(order, nrhs) < direct_ms(order, nrhs);
}

/// Returns the bytes of workspace of posv/mixed_gmres.
inline std::size_t mixed_bytes(const Shape& shape, std::size_t element, std::int64_t from) {
  const std::size_t direct = direct_bytes(shape, element);
  if (!worth_trying(shape.n, shape.nrhs, from)) return direct;
  return std::max(refinement_bytes(shape.n, std::min(shape.nrhs, mixed::max_rhs_per_group)), direct);
}

}  // namespace gaussweep::definite
