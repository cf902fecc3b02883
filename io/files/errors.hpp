#pragma once
/// The exceptions of `io/`: each message says what, where, and what is allowed, in one paragraph.

#include <stdexcept>
#include <string>

namespace gaussweep::io {

/// What the user gave is wrong (a plan, a matrix file, a path): exit code 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The medium failed (disk full, quota, read-only, vanished): the sweep ends clearly, resumable.
struct StorageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace gaussweep::io
