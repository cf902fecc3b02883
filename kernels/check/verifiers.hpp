#pragma once
/// The functions that verify answers ("verifiers"); each problem uses one verifier. `check` (check.hpp) first
/// checks the shapes and that the operands and the answer are finite, then calls the problem's verifier
/// (ProblemRow::verifier).

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/check/check.hpp"
#include "kernels/check/norms.hpp"
#include "kernels/check/reductions.hpp"

namespace gaussweep::verifiers {

/// The unit roundoff u: half the distance from 1 to the next larger number.
template <class T>
constexpr double unit_roundoff = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;

/// The smallest normal number. Rounding an answer causes an error of up to u times this number (half
/// the smallest subnormal number) even if the answer is tiny.
template <class T>
constexpr double smallest_normal = static_cast<double>(std::numeric_limits<T>::min());

/// Returns findings with all numbers unknown (NaN).
inline Findings unknown() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return {nan, nan, nan, nan, nan, nan, nan, /*flaw=*/{}};
}

/// The ratio of an answer with a flaw (Findings::flaw). It exceeds every tolerance.
constexpr double failed_ratio = std::numeric_limits<double>::max();

/// The norms by which a residual is divided: `plain` for the backward error, and `with_underflow` for the
/// ratio. The latter includes the terms with v, which allow for underflow (check.hpp).
struct Scale {
  WideNumber plain;
  WideNumber with_underflow;
};

/// Computes the ratio, i.e. the maximum of (measure of a column) / (scale.with_underflow * factor) over the
/// columns of the residual, and the backward error. A column is summed exactly if the interval ratio ± error
/// bound contains the tolerance or ten times the tolerance. Columns with an error bound above max(1, ratio) /
/// 1000 are also summed exactly if that takes only milliseconds.
/// @param scales one scale for all columns, or one per column
/// @param factor n u (u: the unit roundoff)
template <class T>
Findings verify_columns(Reductions<T>& reductions, const ProductOperands<T>& operands,
                        const ResidualTarget<T>& target, Measure measure, const std::vector<Scale>& scales,
                        double factor, double tolerance);

/// Returns true if lower <= limit < upper for the tolerance or for suspect_factor times the tolerance.
bool error_interval_contains(double lower, double upper, double tolerance);

/// Return the parts (all, lower or upper) of A and of the answer that the problem uses.
inline MatrixPart part_of_a(const Method& method, const Shape& shape) {
  return part_of(method.problem->used_of_a, shape.uplo);
}
inline MatrixPart part_of_x(const Method& method, const Shape& shape) {
  return part_of(method.problem->used_of_x, shape.uplo);
}

// Each function below is the verifier (ProblemRow::verifier) of one or more problems.

/// Verifies the solution X of A X = B.
template <class T>
Findings solution(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                  const Answer<T>& answer, double tolerance);
/// Does the same as `solution` and also computes Findings::first_row_percent.
template <class T>
Findings system_solution(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                         const Answer<T>& answer, double tolerance);
/// Verifies L and U of P A = L U.
template <class T>
Findings lu_factors(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                    const Answer<T>& answer, double tolerance);
/// Verifies L of A = L L^T, with a positive diagonal.
template <class T>
Findings cholesky_factor(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                         const Answer<T>& answer, double tolerance);
/// Verifies X = A^-1 by A X = I or X A = I, whichever has the smaller residual.
template <class T>
Findings left_or_right_inverse(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                               const Answer<T>& answer, double tolerance);
/// Verifies X by A X = I.
template <class T>
Findings inverse(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                 const Answer<T>& answer, double tolerance);
/// Verifies C = A B.
template <class T>
Findings product(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                 const Answer<T>& answer, double tolerance);

/// Returns true if the verifier is one for inverses.
inline bool is_of_inverse(Verifier<double> verifier) {
  return verifier == inverse<double> || verifier == left_or_right_inverse<double>;
}

}  // namespace gaussweep::verifiers
