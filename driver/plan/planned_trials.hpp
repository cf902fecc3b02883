#pragma once
/// From the file of a plan to its trials.

#include <string>

#include "driver/plan/expand.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {

/// Reads a plan and expands it. Matrix files are looked up beside the plan.
Expansion expand_plan(const std::string& path, const Registry& registry, Backend requested, int capability,
                      io::Plan* plan = nullptr);

}  // namespace gaussweep::driver
