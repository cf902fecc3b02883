#pragma once
/// The workspace and the expected times of gesv/mixed_gmres. Compiles without CUDA.

#include <algorithm>

#include "kernels/gesv/mixed_common.hpp"
#include "kernels/getrf/workspaces.hpp"

namespace gaussweep::mixed {

/// Returns the bytes for factoring in float and refining `nrhs` right-hand sides together.
inline std::size_t refinement_bytes(std::int64_t n, std::int64_t nrhs) {
  return iteration_bytes(n, nrhs, lu::leading_dimension(n)) + lu::workspace_bytes(n, sizeof(float)) +
         lu::split_bytes(n) + workspace_piece(n + 1, sizeof(int));
}

/// Returns the bytes for gesv/recursive, which uses the same workspace after a fallback.
inline std::size_t direct_bytes(std::int64_t n, std::int64_t nrhs, std::size_t element) {
  return workspace_piece(n, sizeof(int)) +
         workspace_piece(static_cast<std::int64_t>(solve_lu_workspace(n, nrhs, element)), 1) +
         lu::workspace_bytes(n, element);
}

/// Returns the expected milliseconds of gesv/recursive in double on an H100 or H200: products at DGEMM's
/// rate, panels (the time of a panel column grows with its number of rows), and solves. The solve kernel
/// reads the factors once per eight right-hand sides.
inline double direct_ms(double n, std::int64_t nrhs) {
  const double thousands = n / 1000;
  const double square = thousands * thousands;
  const double factor = 0.0116 * square * thousands + 0.8 * thousands + 0.08 * square;
  const double solve = 0.03 * thousands + 0.0015 * square;
  const auto passes = static_cast<double>((nrhs + 7) / 8);
  return factor + solve * (nrhs == 1 ? 1 : nrhs <= 4 ? 1.2 : 1.6 * passes);
}

/// Returns the expected milliseconds with factors in float and six iterations, the number for a uniform
/// random matrix. The result lies between the times of an H200 and of an H100, which takes 0.5 to 1 ms more.
/// An iteration reads A and the factors once per group of right-hand sides.
inline double refined_ms(double n, std::int64_t nrhs) {
  const double thousands = n / 1000;
  const double square = thousands * thousands;
  constexpr double iterations = 6;
  double time = 0.003 * square * thousands + 0.9 * thousands + 0.048 * square;
  for (std::int64_t first = 0; first < nrhs; first += max_rhs_per_group) {
    const auto count = static_cast<double>(std::min(nrhs - first, max_rhs_per_group));
    const double apply = nrhs < min_rhs_for_products ? (0.0465 + 0.002 * count) * thousands
                                                     : 0.14 + 0.095 * thousands + 0.0015 * square;
    time += iterations * (0.06 + 0.002 * count + apply + 0.0036 * square);
  }
  return time;
}

/// Returns true if gesv/mixed_gmres tries factors in float. @param float_from the parameter; if it is 0, the
/// expected times decide
inline bool worth_trying(std::int64_t n, std::int64_t nrhs, std::int64_t float_from) {
  if (float_from > 0) return n >= float_from;
  const auto order = static_cast<double>(n);
  return refined_ms(order, nrhs) < direct_ms(order, nrhs);
}

inline std::size_t workspace_bytes(std::int64_t n, std::int64_t nrhs, std::size_t element,
                                   std::int64_t float_from) {
  const std::size_t direct = direct_bytes(n, nrhs, element);
  return worth_trying(n, nrhs, float_from)
             ? std::max(refinement_bytes(n, std::min(nrhs, max_rhs_per_group)), direct)
             : direct;
}

}  // namespace gaussweep::mixed
