#pragma once
/// The judge of a batch on a device: the ratio of every system in one launch, where the answers lie.

#include <optional>
#include <vector>

#include "kernels/device/context.hpp"
#include "kernels/residual/operand.hpp"
#include "kernels/staging/staging.hpp"

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
  bool unit_lower;  ///< of the two factors the lower one has the unit diagonal
  const int *pivots, *infos;
};

/// The judged ratio (check.hpp) of every system of the answer in working set `copy`; infinity where what
/// counts is not finite. NaN where the CPU has to decide: an answer with a flaw of its own, elements beyond
/// 2^200 or below 2^-200, a ratio whose error leaves a verdict open, a product whose ratio is above 1. Else
/// it is right to a thousandth of max(1, ratio). Nothing where the problem's judge is none of those above.
/// @throws OutOfMemory, DeviceError
template <class T>
std::optional<std::vector<double>> system_ratios(Context& context, const Method& method, Staging<T>& staging,
                                                 int copy, const Shape& shape, double tolerance);

}  // namespace gaussweep

#define GAUSSWEEP_DECLARE_SYSTEM_RATIOS(space)                            \
  namespace gaussweep::space {                                            \
  template <class T>                                                      \
  std::vector<double> ratios_of(Context& context, const Systems<T>& all); \
  }

GAUSSWEEP_DECLARE_SYSTEM_RATIOS(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_SYSTEM_RATIOS(cuda)
#endif
