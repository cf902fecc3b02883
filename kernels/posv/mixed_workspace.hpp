#pragma once
/// What posv/recursive and posv/mixed_gmres ask for, where no CUDA is needed to say it.

#include <algorithm>

#include "kernels/gesv/mixed_common.hpp"
#include "kernels/potrf/recursive_workspace.hpp"

namespace gaussweep::definite {

/// Bytes for posv/recursive.
inline std::size_t direct_bytes(const Shape& shape, std::size_t element) {
  return tiles::workspace_bytes(shape, element) +
         workspace_piece(static_cast<std::int64_t>(solve_lu_workspace(shape.n, shape.nrhs, element)), 1);
}

/// The matrix that is factored in float: whole tiles, its lower triangle.
inline Shape padded_shape(std::int64_t n) {
  const std::int64_t order = tiles::padded(n);
  return {order, order, order, 1, Uplo::lower};
}

/// Bytes for the factor in float, its making, and the refinement of so many right-hand sides at once.
inline std::size_t refinement_bytes(std::int64_t n, std::int64_t nrhs) {
  return mixed::iteration_bytes(n, nrhs, tiles::padded(n)) +
         tiles::workspace_bytes(padded_shape(n), sizeof(float)) + tiles::split_bytes(n) +
         workspace_piece(1, sizeof(int));
}

/// Milliseconds that posv/recursive takes on an H200: the chain of steps, and products.
inline double direct_ms(double n, std::int64_t nrhs) {
  const double thousands = n / 1000;
  const double square = thousands * thousands;
  const double solve = 0.03 * thousands + 0.0015 * square;
  const auto eights = static_cast<double>((nrhs + 7) / 8);
  return 0.135 * thousands + 0.0068 * square * thousands +
         solve * (nrhs == 1   ? 1
                  : nrhs <= 4 ? 1.2
                              : 1.6 * eights);
}

/// The same with a factor in float and five iterations.
inline double refined_ms(double n, std::int64_t nrhs) {
  const double thousands = n / 1000;
  const double square = thousands * thousands;
  constexpr double iterations = 5;
  double all = 0.0018 * square * thousands + 0.012 * square + 0.25 * thousands + 0.5;
  for (std::int64_t done = 0; done < nrhs; done += mixed::most_at_once) {
    const auto count = static_cast<double>(std::min(nrhs - done, mixed::most_at_once));
    const double apply = nrhs < mixed::products_from ? (0.024 + 0.002 * count) * thousands
                                                     : 0.14 + 0.095 * thousands + 0.0015 * square;
    all += iterations * (0.08 + 0.002 * count + apply + (nrhs == 1 ? 0.0015 : 0.0036) * square);
  }
  return all;
}

/// Whether float is tried at all; `from`: the parameter `float_from`.
inline bool worth_trying(std::int64_t n, std::int64_t nrhs, std::int64_t from) {
  if (from > 0) return n >= from;
  const auto order = static_cast<double>(n);
  return refined_ms(order, nrhs) < direct_ms(order, nrhs);
}

inline std::size_t mixed_bytes(const Shape& shape, std::size_t element, std::int64_t from) {
  const std::size_t direct = direct_bytes(shape, element);
  if (!worth_trying(shape.n, shape.nrhs, from)) return direct;
  return std::max(refinement_bytes(shape.n, std::min(shape.nrhs, mixed::most_at_once)), direct);
}

}  // namespace gaussweep::definite
