#pragma once
/// Workspace sizes of posv/recursive and posv/mixed_gmres, in a header that does not need CUDA.

#include <algorithm>

#include "kernels/gesv/mixed_common.hpp"
#include "kernels/potrf/recursive_workspace.hpp"

namespace gaussweep::definite {

/// Returns the bytes of workspace of posv/recursive, to which posv/mixed_gmres falls back.
inline std::size_t direct_bytes(const Shape& shape, std::size_t element) {
  return tiles::workspace_bytes(shape, element) +
         aligned_workspace_bytes(static_cast<std::int64_t>(solve_lu_workspace(shape.n, shape.nrhs, element)),
                                 1);
}

/// Returns the shape of the matrix that is factored in float: its order is padded to whole tiles, and its
/// lower triangle is stored.
inline Shape padded_shape(std::int64_t n) {
  const std::int64_t order = tiles::round_up_to_tiles(n);
  return {/*m=*/order, /*n=*/order, /*k=*/order, /*nrhs=*/1, Uplo::lower};
}

/// Returns the bytes for factoring in float and refining `nrhs` right-hand sides together.
inline std::size_t refinement_bytes(std::int64_t n, std::int64_t nrhs) {
  return mixed::iteration_bytes(n, nrhs, tiles::round_up_to_tiles(n)) +
         tiles::workspace_bytes(padded_shape(n), sizeof(float)) + tiles::split_bytes(n) +
         aligned_workspace_bytes(1, sizeof(int));
}

/// Returns the expected milliseconds of posv/recursive on an H200: factorisation and solves. The constants
/// here and in refined_ms were fitted to measured times (docs/notebook/mixed_precision.md).
inline double direct_ms(double n, std::int64_t nrhs) {
  const double k = n / 1000;
  return 0.0065 * k * k * k + 0.094 * k + mixed::direct_solves_ms(0.044 * k + 0.0003 * k * k, k, nrhs);
}

/// Returns the expected milliseconds of posv/mixed_gmres on an H200, with a factor in float and three or four
/// iterations.
inline double refined_ms(double n, std::int64_t nrhs) {
  const double k = n / 1000;
  const auto count = static_cast<double>(nrhs);
  // Groups of max_rhs_per_group right-hand sides are refined one after another. An incomplete last group
  // after complete ones takes 1.1 times as long as they do, because cuBLAS is slower for it.
  const double last_group_weight = nrhs % mixed::max_rhs_per_group == 0 ? 0
                                   : nrhs < mixed::max_rhs_per_group    ? 1
                                                                        : 1.1;
  const double groups = static_cast<double>(nrhs / mixed::max_rhs_per_group) + last_group_weight;
  const double factor_ms = 0.0205 * k * k + 0.094 * k + 0.67;
  if (nrhs == 1) return factor_ms + 0.0135 * k * k + 0.0134 * k;
  if (nrhs <= 8) return factor_ms + 0.0176 * k * k + 0.0151 * count * k;
  if (nrhs < mixed::min_rhs_for_products) return factor_ms + (0.03 + 0.0006 * count) * k * k;
  return factor_ms + groups * (0.0351 * k * k + 0.0712 * k + 1.15) + 0.0022 * count * k;
}

/// Returns true if posv/mixed_gmres tries a factor in float.
/// @param float_from the parameter `float_from` of the method; if it is 0, the expected times are compared
inline bool tries_float_factors(std::int64_t n, std::int64_t nrhs, std::int64_t float_from) {
  if (float_from > 0) return n >= float_from;
  const auto order = static_cast<double>(n);
  return refined_ms(order, nrhs) < mixed::max_time_ratio * direct_ms(order, nrhs);
}

/// Returns the bytes of workspace of posv/mixed_gmres.
inline std::size_t mixed_bytes(const Shape& shape, std::size_t element, std::int64_t float_from) {
  const std::size_t direct = direct_bytes(shape, element);
  if (!tries_float_factors(shape.n, shape.nrhs, float_from)) return direct;
  return std::max(refinement_bytes(shape.n, std::min(shape.nrhs, mixed::max_rhs_per_group)), direct);
}

}  // namespace gaussweep::definite
