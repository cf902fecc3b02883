#pragma once
/// The number of threads of OpenBLAS, for files that need nothing else of BLAS.

namespace gaussweep::vendor {

/// Returns the number of threads that OpenBLAS may use.
int blas_threads();

}  // namespace gaussweep::vendor
