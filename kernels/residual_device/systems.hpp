#pragma once
/// The systems of a batch as kernels judge them.

#include <cstdint>

#include "kernels/residual/operand.hpp"

namespace gaussweep {

/// What the ratio of a problem is made of (kernels/check/judges.hpp).
enum class Quotient { solution, lu_factors, cholesky_factor, inverse, product };

/// The operands of a batch on a device, dense and column-major, each system's behind the last one's.
template <class T>
struct Systems {
  Quotient quotient;
  Shape shape;
  double tolerance;
  const T *a, *b, *x;       ///< b: null where the problem has none
  Extent of_a, of_b, of_x;  ///< of one system
  Part part_of_a, part_of_x;
  double second_look;  ///< inverse: beyond this ratio of I - A X the one of I - X A is computed too
  bool unit_lower;     ///< of the two factors the lower one has the unit diagonal
  const int *pivots, *infos;
  bool knows_solution;          ///< x_true is that of generate_solution, of
  std::uint64_t solution_seed;  ///< seed_of_system
};

}  // namespace gaussweep

namespace gaussweep::judge {
/// What kernels add up; behind it lie the ratios of the sample.
struct Totals {
  unsigned long long others;      ///< RatioSummary
  unsigned long long most;        ///< the bits of the largest ratio of those that pass
  unsigned long long most_error;  ///< of the largest forward error, and 1; 0: there is none
  unsigned long long worst;       ///< the first system with that ratio
  unsigned long long digest;
};
}  // namespace gaussweep::judge
