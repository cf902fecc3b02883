#pragma once
/// Implements `gaussweep duet`: two builds of this program alternate, trial by trial, on one device. A trial
/// is one method on one matrix.

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// The options of `gaussweep duet`.
struct DuetOptions {
  std::string other;             ///< path of the other build's program, which is the baseline
  std::string plan, output;      ///< path of the plan (a YAML file of trials), and the output directory
  std::string backend = "auto";  ///< value of --backend
  /// Shared libraries with more methods. If the plan has libraries too, this build uses these libraries
  /// instead of the plan's, so that two versions of a library can be compared.
  std::vector<std::string> libraries;
  /// Number of repetitions of all trials, each with new worker processes of both builds.
  std::int64_t rounds = 10;
  std::string command_line;  ///< for the provenance of both runs
};

/// The names of the two run directories in the output directory: `duet_base` for the other build, `duet_new`
/// for this build.
constexpr const char* duet_base = "base";
constexpr const char* duet_new = "new";

/// Runs each trial of the plan `rounds` times with each build. The build that runs first alternates from
/// trial to trial and from round to round, so that clock drift affects both builds equally.
/// @return exit_ok, or exit_stopped after a signal; finished rounds are kept
/// @throws UsageError if the other build cannot be used, std::runtime_error if a device fails,
/// io::StorageError
int run_duet(const DuetOptions& options, const Registry& builtin);

}  // namespace gaussweep::driver
