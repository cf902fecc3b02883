#pragma once
/// What BLAS and LAPACK call their letters, for the host's library and for the GPU's.

namespace gaussweep::vendor {

enum class Op { none, transpose };
enum class Side { left, right };
/// What the diagonal of a triangular operand is: all ones, not read; or what the matrix says.
enum class Diagonal { unit, stored };

}  // namespace gaussweep::vendor
