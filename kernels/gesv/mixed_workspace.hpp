#pragma once
/// The workspace and the expected times of gesv/mixed_gmres. Compiles without CUDA.

#include <algorithm>

#include "kernels/gesv/mixed_common.hpp"
#include "kernels/getrf/workspaces.hpp"

namespace gaussweep::mixed {

/// Returns the bytes for factoring in float and refining `nrhs` right-hand sides together.
inline std::size_t refinement_bytes(std::int64_t n, std::int64_t nrhs) {
  return iteration_bytes(n, nrhs, lu::leading_dimension(n)) + lu::workspace_bytes(n, sizeof(float)) +
         lu::split_bytes(n) + aligned_workspace_bytes(n + 1, sizeof(int));
}

/// Returns the bytes for gesv/recursive, which reuses the workspace of gesv/mixed_gmres after a fallback.
inline std::size_t direct_bytes(std::int64_t n, std::int64_t nrhs, std::size_t element) {
  return aligned_workspace_bytes(n, sizeof(int)) +
         aligned_workspace_bytes(static_cast<std::int64_t>(solve_lu_workspace(n, nrhs, element)), 1) +
         lu::workspace_bytes(n, element);
}

/// Returns the expected milliseconds of gesv/recursive in double on an H200: factorisation and solves. The
/// constants here and in refined_ms were fitted to measured times (docs/notebook/mixed_precision.md).
inline double direct_ms(double n, std::int64_t nrhs) {
  const double k = n / 1000;
  return 0.0106 * k * k * k + 0.0974 * k * k + 0.764 * k +
         direct_solves_ms(0.04 * k + 0.0005 * k * k, k, nrhs);
}

/// Returns the expected milliseconds of gesv/mixed_gmres with factors in float on an H200. Assumes five to
/// seven iterations, which uniform random matrices take. An H100 takes 0.5 to 1 ms more.
inline double refined_ms(double n, std::int64_t nrhs) {
  const double k = n / 1000;
  const auto count = static_cast<double>(nrhs);
  const auto groups = static_cast<double>((nrhs + max_rhs_per_group - 1) / max_rhs_per_group);
  const double factor_ms = 0.0027 * k * k * k + 0.0298 * k * k + 1.267 * k;
  if (nrhs == 1) return factor_ms + 0.0371 * k * k + 0.0042 * k;
  if (nrhs <= 8) return factor_ms + 0.0392 * k * k + 0.0143 * count * k;
  if (nrhs < min_rhs_for_products) return factor_ms + (0.0375 + 0.00092 * count) * k * k;
  return factor_ms + groups * (0.0422 * k * k + 0.344 * k + 0.023) + 0.0152 * count;
}

/// Returns true if gesv/mixed_gmres tries factors in float.
/// @param float_from the parameter `float_from` of the method; if it is 0, the expected times are compared
inline bool tries_float_factors(std::int64_t n, std::int64_t nrhs, std::int64_t float_from) {
  if (float_from > 0) return n >= float_from;
  const auto order = static_cast<double>(n);
  const double max_ratio = nrhs <= 4 ? 1 : max_time_ratio;
  return refined_ms(order, nrhs) < max_ratio * direct_ms(order, nrhs);
}

/// Returns the bytes of workspace of gesv/mixed_gmres.
inline std::size_t workspace_bytes(std::int64_t n, std::int64_t nrhs, std::size_t element,
                                   std::int64_t float_from) {
  const std::size_t direct = direct_bytes(n, nrhs, element);
  return tries_float_factors(n, nrhs, float_from)
             ? std::max(refinement_bytes(n, std::min(nrhs, max_rhs_per_group)), direct)
             : direct;
}

}  // namespace gaussweep::mixed
