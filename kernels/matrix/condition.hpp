#pragma once
/// Matrices of a chosen 2-norm condition number.

#include <vector>

#include "kernels/core/matrix.hpp"
#include "kernels/matrix/matrix_spec.hpp"

namespace gaussweep {

/// The singular values of kind `condition` and of `spd` with a condition, as modes 1 to 5 of LAPACK's latms.
/// The largest is 1 and, for n > 1, the smallest 1/condition. Mode 1: one large, n - 1 small. Mode 2: n - 1
/// large, one small. Mode 3: geometric. Mode 4: arithmetic. Mode 5: random, their logarithms uniform. Unlike
/// in latms, both ends are pinned so that the condition number is the one asked for.
std::vector<double> singular_values(const MatrixSpec& spec);

/// The largest condition number that a matrix of this precision can be given, 1/u: rounding its elements
/// moves the smallest singular value by about u. Up to there the number reached is the one asked for within
/// some percent, near the limit within a factor of three.
constexpr double most_condition(Precision precision) {
  return precision == Precision::float32 ? 0x1p24 : 0x1p53;
}

/// The same for kind `spd`. A 64th of 1/u, so that rounding the elements leaves the matrix positive definite.
constexpr double most_spd_condition(Precision precision) {
  return most_condition(precision) / 64;
}

/// A = Q1 diag(sigma) Q2^T in double, Q1 and Q2 products of a few Householder reflectors with random vectors.
/// O(n^2) work per reflector. For kind `spd` Q2 = Q1, and the upper triangle mirrors the lower one.
HostMatrix<double> condition_matrix(const MatrixSpec& spec, int threads);

}  // namespace gaussweep
