#pragma once
/// Saves the number of BLAS threads that the user requested, and checks the memory limits for OpenBLAS.

#include <string>

namespace gaussweep::driver {

/// The value of OPENBLAS_NUM_THREADS or OMP_NUM_THREADS when the user started this program.
struct RequestedThreads {
  int threads = 0;       ///< 0: none requested
  std::string variable;  ///< the variable's name
};

/// Saves the user's request in another environment variable, because the program sets OPENBLAS_NUM_THREADS
/// itself.
void save_requested_threads();
/// Returns the request that this process or its parent saved.
RequestedThreads requested_threads();

/// Returns an error text if `ulimit -v` or `ulimit -d` of this process is too small for OpenBLAS with
/// `threads` threads; otherwise an empty text. The error names the limit and the required value. The check is
/// needed because OpenBLAS's allocator retries a failed mmap forever, so the process would hang without a
/// message.
std::string blas_memory_error(int threads);

}  // namespace gaussweep::driver
