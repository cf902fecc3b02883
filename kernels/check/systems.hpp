#pragma once
/// The systems of a batch (many problems of one shape) as arguments of the kernels that verify them.

#include <cstdint>

#include "kernels/check/operand.hpp"

namespace gaussweep {

/// The kinds of ratios that kernels compute; each is defined by a function in kernels/check/verifiers.hpp.
enum class RatioKind { solution, lu_factors, cholesky_factor, inverse, product };

/// A batch on a device, and the parameters of its verification. Operands are column-major with ld = rows, one
/// system behind the other in memory.
template <class T>
struct BatchToVerify {
  RatioKind ratio_kind;
  Shape shape;
  double tolerance;
  const T *a, *b, *x;                ///< b: null if the problem has none
  Extent a_shape, b_shape, x_shape;  ///< the shapes of one system's operands
  MatrixPart part_of_a, part_of_x;
  double other_side_threshold;  ///< inverse: see other_side_threshold in check.hpp
  bool unit_lower;              ///< true: L has the unit diagonal; false: U
  const int *pivots, *infos;    ///< getrf: n pivots per system, from 0; one info per system
  bool has_solution_seed;       ///< true: generate_solution made x_true, with the seed below
  std::uint64_t solution_seed;  ///< see seed_of_system
};

}  // namespace gaussweep

namespace gaussweep::verification {
/// The totals that kernels accumulate. RatioSummary::sample follows them in memory.
struct RatioTotals {
  unsigned long long not_passed;  ///< RatioSummary::not_passed
  unsigned long long max_ratio;   ///< the bits of the largest ratio of the systems that pass
  unsigned long long max_error;   ///< 1 + the bits of the largest forward error; 0: none is known
  unsigned long long worst;       ///< the first system with the largest ratio
  unsigned long long digest;
};
}  // namespace gaussweep::verification
