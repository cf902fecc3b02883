#pragma once
/// `gaussweep run`: from the plan to the exit code.

#include "driver/sweep/run_options.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// Runs the sweep on all ranks and returns the exit code. Collective.
int run_sweep(const RunOptions& options, const Registry& registry);

}  // namespace gaussweep::driver
