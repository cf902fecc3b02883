#pragma once
/// Operation counts that problems share: multiplications and additions (a division counts as a
/// multiplication) of LAPACK Working Note 41, appendix C, all terms.

#include "kernels/core/matrix.hpp"

namespace gaussweep {

/// L and U of a matrix of order n (getrf). The solve with them for one right-hand side (getrs), and the
/// inverse made of them (getri).
double lu_flops(const Shape& shape);
double lu_solve_flops(const Shape& shape);
double lu_inverse_flops(const Shape& shape);
/// The Cholesky factor (potrf), and the inverse made of it (potri).
double cholesky_flops(const Shape& shape);
double cholesky_inverse_flops(const Shape& shape);

/// Elements of a square matrix, of a triangle, of nrhs columns.
double square_elements(const Shape& shape);
double triangle_elements(const Shape& shape);
double columns_elements(const Shape& shape);

}  // namespace gaussweep
