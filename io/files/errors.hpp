#pragma once
/// The exceptions of `io/`. Each message states the problem, its location and the allowed values, in one
/// paragraph.

#include <stdexcept>
#include <string>

namespace gaussweep::io {

/// The user's input is wrong (a plan, a matrix file, a path); leads to exit code 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The storage failed (disk full, quota, read-only, unmounted). The sweep ends cleanly and can be resumed.
struct StorageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace gaussweep::io
