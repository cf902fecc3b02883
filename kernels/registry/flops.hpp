#pragma once
/// Operation counts that several problems share. They include all multiplications and additions with their
/// lower-order terms, as in LAPACK Working Note 41, appendix C. A division counts as a multiplication.

#include "kernels/core/matrix.hpp"

namespace gaussweep {

/// Return the counts of an LU factorization (getrf), of a solve with its factors for nrhs right-hand sides
/// (getrs), and of the inverse from the factors (getri).
double lu_flops(const Shape& shape);
double lu_solve_flops(const Shape& shape);
double lu_inverse_flops(const Shape& shape);
/// Return the counts of a Cholesky factorization (potrf) and of the inverse computed from the factor (potri).
double cholesky_flops(const Shape& shape);
double cholesky_inverse_flops(const Shape& shape);

/// Return the number of elements of an n x n matrix, of its triangle, and of an n x nrhs matrix.
double square_elements(const Shape& shape);
double triangle_elements(const Shape& shape);
double columns_elements(const Shape& shape);

}  // namespace gaussweep
