#pragma once
/// `gaussweep duet`: two builds take turns, trial by trial, on one device.

#include <cstdint>
#include <string>

#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

struct DuetOptions {
  std::string other;  ///< the other build's program, which is the base
  std::string plan, output;
  std::string backend = "auto";
  std::int64_t rounds = 10;  ///< each with fresh workers of both
  std::string command_line;
};

/// The run directories of a duet, in its output: of the other build, and of this one.
constexpr const char* duet_base = "base";
constexpr const char* duet_new = "new";

/// Runs each trial of the plan `rounds` times by either build. Who begins changes from trial to trial and
/// from round to round, so that what drifts meets both.
/// @return exit_ok, or exit_stopped after a signal: the rounds that are done are kept
/// @throws UsageError where the other build cannot take part, std::runtime_error where a device fails,
/// io::StorageError
int run_duet(const DuetOptions& options, const Registry& registry);

}  // namespace gaussweep::driver
