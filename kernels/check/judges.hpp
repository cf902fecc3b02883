#pragma once
/// The parts of check.hpp, one a kind of problem. Shapes have been checked and the answer is finite.

#include <cmath>
#include <limits>

#include "kernels/check/check.hpp"
#include "kernels/check/norms.hpp"

namespace gaussweep::judges {

/// u, the unit roundoff: half the distance from 1 to the next number.
template <class T>
constexpr double unit_roundoff = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;

/// residual / scale as a verdict: what is exactly right is 0 even where the scale is 0, what is not a number
/// (operands overflowed, or hold one) is infinitely wrong.
inline double quotient(double residual, double scale) {
  if (residual == 0) return 0;
  const double value = residual / scale;
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

/// All findings unknown.
inline Findings unknown() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return {nan, nan, nan, nan, nan, {}};
}

/// The matrix in double; no copy where it already is.
inline const HostMatrix<double>& as_double(const HostMatrix<double>& a) {
  return a;
}
inline HostMatrix<double> as_double(const HostMatrix<float>& a) {
  HostMatrix<double> wide(a.rows, a.cols);
  for (std::size_t k = 0; k < a.data.size(); ++k) wide.data[k] = a.data[k];
  return wide;
}

template <class T>
Findings solution(Problem problem, const Inputs<T>& inputs, const Answer<T>& answer);
template <class T>
Findings lu_factors(UnitDiagonal unit_diagonal, const Inputs<T>& inputs, const Answer<T>& answer);
template <class T>
Findings cholesky_factor(const Inputs<T>& inputs, const Answer<T>& answer);
template <class T>
Findings inverse(Problem problem, const Inputs<T>& inputs, const Answer<T>& answer);
template <class T>
Findings product(const Inputs<T>& inputs, const Answer<T>& answer);

}  // namespace gaussweep::judges
