#pragma once
/// The judges of check.hpp, of which a row of a problem names one. Shapes have been checked; all that counts
/// is finite.

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/check/check.hpp"
#include "kernels/residual/norms.hpp"
#include "kernels/residual/reductions.hpp"

namespace gaussweep::judges {

/// u, the unit roundoff: half the distance from 1 to the next number.
template <class T>
constexpr double unit_roundoff = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;

/// The smallest normal number. Rounding an answer causes errors of at least u times this, half the smallest
/// subnormal number.
template <class T>
constexpr double smallest_normal = static_cast<double>(std::numeric_limits<T>::min());

/// All findings unknown.
inline Findings unknown() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return {nan, nan, nan, nan, nan, nan, nan, {}};
}

/// The ratio of an answer that is none.
constexpr double beyond_everything = std::numeric_limits<double>::max();

/// What a residual is divided by: as recorded in `backward_error`, and with what the precision cannot hold.
struct Scale {
  Scaled plain;
  Scaled held;
};

/// ratio = max over the columns of (residual of the column) / (scale.held factor), and its backward error.
/// Columns are computed exactly whose error bound leaves open whether the ratio is above the tolerance or ten
/// times that. So are columns that leave it open by more than a thousandth, as long as that costs
/// milliseconds at most.
/// @param scales one for all columns, or one each
template <class T>
Findings judge_columns(Reductions<T>& reductions, const Factors<T>& factors, const Target<T>& target,
                       Measure measure, const std::vector<Scale>& scales, double factor, double tolerance);

/// Whether lower <= limit < upper for a limit that a verdict hangs on.
bool is_open(double lower, double upper, double tolerance);

/// The parts of A and of the answer that count.
inline Part part_of_a(const Method& method, const Shape& shape) {
  return part_of(method.problem->counts_of_a, shape.uplo);
}
inline Part part_of_x(const Method& method, const Shape& shape) {
  return part_of(method.problem->counts_of_x, shape.uplo);
}

// Each is the `judge` of one problem's row or of several.

/// X of A X = B.
template <class T>
Findings solution(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                  const Answer<T>& answer, double tolerance);
/// The same, and Fuhrmann's look at the first row.
template <class T>
Findings system_solution(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                         const Answer<T>& answer, double tolerance);
/// L and U of P A = L U.
template <class T>
Findings lu_factors(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                    const Answer<T>& answer, double tolerance);
/// L of A = L L^T, with a positive diagonal.
template <class T>
Findings cholesky_factor(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                         const Answer<T>& answer, double tolerance);
/// X with A X = I and X A = I, by the side with the smaller residual.
template <class T>
Findings either_inverse(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                        const Answer<T>& answer, double tolerance);
/// X with A X = I.
template <class T>
Findings inverse(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                 const Answer<T>& answer, double tolerance);
/// C = A B.
template <class T>
Findings product(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                 const Answer<T>& answer, double tolerance);

}  // namespace gaussweep::judges
