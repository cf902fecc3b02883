#pragma once
/// Matrices of a chosen 2-norm condition number.

#include "kernels/matrix/generate.hpp"

namespace gaussweep {

/// The singular values of kind `condition`, as modes 1 to 5 of LAPACK's latms; the largest is 1 and, for n >
/// 1, the smallest 1/condition. 1: one large, n - 1 small. 2: n - 1 large, one small. 3: geometric. 4:
/// arithmetic. 5: random, their logarithms uniform; unlike latms, both ends are pinned so that the condition
/// number is the one asked for.
std::vector<double> singular_values(const MatrixSpec& spec);

/// A = Q1 diag(sigma) Q2^T in double, Q1 and Q2 products of a few Householder reflectors with random vectors.
/// O(n^2) work a reflector.
HostMatrix<double> condition_matrix(const MatrixSpec& spec, int threads);

}  // namespace gaussweep
