#pragma once
/// The top level of `gaussweep run`: reads the plan, runs its trials, and determines the exit code.

#include "driver/sweep/run_options.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// Runs the sweep and returns the exit code. Collective: every rank calls it.
int run_sweep(const RunOptions& options, const Registry& registry);

}  // namespace gaussweep::driver
