#pragma once
/// Matrices with a given 2-norm condition number.

#include <vector>

#include "kernels/core/matrix.hpp"
#include "kernels/matrix/matrix_spec.hpp"

namespace gaussweep {

/// Returns the singular values of kind `condition`, or of kind `spd` with a condition number. The largest is
/// 1 and, for n > 1, the smallest is 1/condition. MatrixSpec::mode is a mode of LAPACK's latms. 1: one large
/// and n - 1 small values. 2: n - 1 large values and a small one. 3: a geometric sequence. 4: an arithmetic
/// sequence. 5: random values with uniform logarithms. Unlike latms, every mode includes both extremes, so
/// that the condition number is exact.
std::vector<double> singular_values(const MatrixSpec& spec);

/// Returns the largest condition number that is allowed in a precision, 1/u with the unit roundoff u. The
/// reason is that rounding the elements changes the smallest singular value by about u. The actual condition
/// number differs from the requested one by some percent, and near the limit by up to a factor of three.
constexpr double max_condition_number(Precision precision) {
  return precision == Precision::float32 ? 0x1p24 : 0x1p53;
}

/// Returns the largest condition number for kind `spd`, 1/(64 u): below it, the matrix stays positive
/// definite when its elements are rounded.
constexpr double max_spd_condition_number(Precision precision) {
  return max_condition_number(precision) / 64;
}

/// Returns A = Q1 diag(sigma) Q2^T in double; Q1 and Q2 are products of a few random Householder reflectors.
/// It takes O(n^2) operations per reflector. For kind `spd`, Q2 = Q1, and the upper triangle mirrors the
/// lower one.
HostMatrix<double> condition_matrix(const MatrixSpec& spec, int threads);

}  // namespace gaussweep
