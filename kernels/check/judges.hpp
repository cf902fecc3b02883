#pragma once
/// The parts of check.hpp, one a kind of problem. Shapes have been checked; all that counts is finite.

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/check/check.hpp"
#include "kernels/check/norms.hpp"
#include "kernels/check/reductions.hpp"

namespace gaussweep::judges {

/// u, the unit roundoff: half the distance from 1 to the next number.
template <class T>
constexpr double unit_roundoff = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;

/// The smallest normal number. An answer is rounded with errors of u times this (half the smallest subnormal
/// one) at least: what a right answer of elements near it may have.
template <class T>
constexpr double smallest_normal = static_cast<double>(std::numeric_limits<T>::min());

/// All findings unknown.
inline Findings unknown() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return {nan, nan, nan, nan, nan, nan, {}};
}

/// The ratio of an answer that is none.
constexpr double beyond_everything = std::numeric_limits<double>::max();

/// What a residual is divided by: as recorded in `backward_error`, and with what the precision cannot hold.
struct Scale {
  Scaled plain;
  Scaled held;
};

/// ratio = max over the columns of (residual of the column) / (scale.held factor), and its backward error.
/// Columns whose error bound leaves the ratio open by more than a thousandth, or open whether it is above the
/// tolerance or ten times that, are taken exactly; the former only as long as that costs no more than
/// milliseconds.
/// @param scales one for all columns, or one each
template <class T>
Findings judge_columns(Reductions<T>& reductions, const Factors<T>& factors, const Target<T>& target,
                       Measure measure, const std::vector<Scale>& scales, double factor, double tolerance);

/// Whether lower <= limit < upper for a limit that a verdict hangs on.
bool is_open(double lower, double upper, double tolerance);

template <class T>
Findings solution(Reductions<T>& reductions, Problem problem, const Inputs<T>& inputs,
                  const Answer<T>& answer, double tolerance);
template <class T>
Findings lu_factors(Reductions<T>& reductions, UnitDiagonal unit_diagonal, const Inputs<T>& inputs,
                    const Answer<T>& answer, double tolerance);
template <class T>
Findings cholesky_factor(Reductions<T>& reductions, const Inputs<T>& inputs, const Answer<T>& answer,
                         double tolerance);
template <class T>
Findings inverse(Reductions<T>& reductions, Problem problem, const Inputs<T>& inputs, const Answer<T>& answer,
                 double tolerance);
template <class T>
Findings product(Reductions<T>& reductions, const Inputs<T>& inputs, const Answer<T>& answer,
                 double tolerance);

}  // namespace gaussweep::judges
