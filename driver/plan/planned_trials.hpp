#pragma once
/// Expands the file of a plan to its trials.

#include <string>

#include "driver/plan/expand.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {

/// Expands a plan. Paths of matrix files are relative to the folder of `path`, the plan's file.
Expansion expand_plan(const io::Plan& plan, const std::string& path, const Registry& registry,
                      Backend requested, int capability);

}  // namespace gaussweep::driver
