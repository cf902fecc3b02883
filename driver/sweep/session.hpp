#pragma once
/// The top level of `gaussweep run`: reads the plan, runs its trials, and determines the exit code. A plan is
/// a list of measurements, a trial one method on one matrix.

#include "driver/sweep/run_options.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// Runs the sweep, i.e. all trials of the plan, and returns the exit code. Collective: every rank calls it.
int run_sweep(const RunOptions& options, const Registry& registry);

}  // namespace gaussweep::driver
