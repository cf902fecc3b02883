#pragma once
/// What kept a trial from being done may have passed by the next time.

#include <stdexcept>
#include <string>

#include "io/records/status.hpp"

namespace gaussweep::driver {

/// Thrown where it is the moment that is to blame, not the trial: others hold the memory, a file was being
/// written. The trial is recorded with `status`, and `--resume` does it again.
struct TransientFailure : std::runtime_error {
  TransientFailure(io::Status end, const std::string& words)
      : std::runtime_error(words + "; --resume tries it again"), status(end) {}
  io::Status status;
};

}  // namespace gaussweep::driver
