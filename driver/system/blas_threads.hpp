#pragma once
/// The number of BLAS threads that the user asked for by an environment variable.

#include <string>

namespace gaussweep::driver {

/// What OPENBLAS_NUM_THREADS or OMP_NUM_THREADS said when the user started this program.
struct RequestedThreads {
  int threads = 0;       ///< 0: nothing
  std::string variable;  ///< the one that said it
};

/// Keeps the request in a variable of its own. The program then sets OPENBLAS_NUM_THREADS for itself.
void keep_requested_threads();
/// Returns what was kept, by this process or by the one that started it.
RequestedThreads requested_threads();

}  // namespace gaussweep::driver
