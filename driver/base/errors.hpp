#pragma once
/// Exit codes, and the exceptions of the driver.

#include <stdexcept>
#include <string>

#include "io/records/status.hpp"

namespace gaussweep::driver {

/// Exit codes (docs/running.md, "Exit codes").
enum ExitCode : int {
  exit_ok = 0,
  exit_wrong = 1,       ///< an answer was wrong or suspect, or right although the plan expects a failure
  exit_usage = 2,       ///< usage or plan error
  exit_broken = 3,      ///< some trial crashed, timed out or could not run
  exit_regression = 4,  ///< `compare` found a regression
  exit_stopped = 5      ///< stopped early by time limit or signal, resumable
};

/// Thrown for wrong usage: the command prints the message and ends with exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Thrown if a trial failed because other processes use the memory or changed a file of the trial. The trial
/// is recorded with `status`, and `--resume` runs it again.
struct TransientFailure : std::runtime_error {
  TransientFailure(io::Status trial_status, const std::string& message)
      : std::runtime_error(message + "; --resume tries it again"), status(trial_status) {}
  io::Status status;
};

}  // namespace gaussweep::driver
