#pragma once
/// Matrices with a given 2-norm condition number.

#include <vector>

#include "kernels/core/matrix.hpp"
#include "kernels/matrix/matrix_spec.hpp"

namespace gaussweep {

/// Returns the singular values of kind `condition`, or of `spd` with a condition, as modes 1 to 5 of LAPACK's
/// latms. The largest is 1 and, for n > 1, the smallest is 1/condition. Mode 1: one large, n - 1 small
/// values. Mode 2: n - 1 large, one small. Mode 3: geometric. Mode 4: arithmetic. Mode 5: random with uniform
/// logarithms. Unlike in latms, every mode contains both extremes, so that the condition number is exact.
std::vector<double> singular_values(const MatrixSpec& spec);

/// Returns the largest condition number that is allowed in a precision, 1/u, because rounding the elements
/// changes the smallest singular value by about u. The actual condition number differs from the requested one
/// by some percent, and near the limit by up to a factor of three.
constexpr double max_condition_number(Precision precision) {
  return precision == Precision::float32 ? 0x1p24 : 0x1p53;
}

/// Returns the limit for kind `spd`, 1/(64 u), so that the matrix stays positive definite when its elements
/// are rounded.
constexpr double max_spd_condition_number(Precision precision) {
  return max_condition_number(precision) / 64;
}

/// Returns A = Q1 diag(sigma) Q2^T in double; Q1 and Q2 are products of a few random Householder reflectors.
/// It takes O(n^2) operations per reflector. For kind `spd`, Q2 = Q1, and the upper triangle mirrors the
/// lower one.
HostMatrix<double> condition_matrix(const MatrixSpec& spec, int threads);

}  // namespace gaussweep
