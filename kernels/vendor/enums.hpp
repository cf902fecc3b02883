#pragma once
/// The option letters of BLAS and LAPACK as enums, for the libraries on the host and on the GPU.

namespace gaussweep::vendor {

enum class Op { none, transpose };
enum class Side { left, right };
/// The diagonal of a triangular operand: all ones and not read (unit), or as stored.
enum class Diagonal { unit, stored };

}  // namespace gaussweep::vendor
