#pragma once
/// Reads the option --time-limit, the longest time that a run may take.

#include <string>

namespace gaussweep::driver {

/// Returns the seconds of "90", "90s", "10min", "1h30min", or Slurm's "HH:MM:SS", "D-HH:MM:SS". @throws
/// UsageError
double parse_time_limit(const std::string& text);

}  // namespace gaussweep::driver
