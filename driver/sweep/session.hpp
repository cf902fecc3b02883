#pragma once
/// The top level of `gaussweep run`: reads the plan (the list of measurements), runs its trials (one method
/// on one matrix each), and determines the exit code.

#include "driver/sweep/run_options.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// Runs the sweep, i.e. all trials of the plan, and returns the exit code. Collective: every rank calls it.
int run_sweep(const RunOptions& options, const Registry& registry);

}  // namespace gaussweep::driver
