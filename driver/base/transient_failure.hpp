#pragma once
/// The exception for failures that may have passed when the trial runs again.

#include <stdexcept>
#include <string>

#include "io/records/status.hpp"

namespace gaussweep::driver {

/// Thrown if other processes caused a trial to fail: they use the memory, or a file was being written. The
/// trial is recorded with `status`, and `--resume` runs it again.
struct TransientFailure : std::runtime_error {
  TransientFailure(io::Status end, const std::string& words)
      : std::runtime_error(words + "; --resume tries it again"), status(end) {}
  io::Status status;
};

}  // namespace gaussweep::driver
