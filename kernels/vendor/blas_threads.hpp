#pragma once
/// The number of threads of OpenBLAS, in a header without other functions of BLAS.

namespace gaussweep::vendor {

/// Returns the number of threads that OpenBLAS may use.
int blas_threads();

}  // namespace gaussweep::vendor
