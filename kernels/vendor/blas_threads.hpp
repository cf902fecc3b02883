#pragma once

namespace gaussweep::vendor {

/// Returns the number of threads that OpenBLAS may use.
int blas_threads();

}  // namespace gaussweep::vendor
