#pragma once
/// What makes trials share: their inputs, and the vendor's run that they are compared with.

#include <string>

#include "driver/plan/trial.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// What decides the inputs of a trial: matrices, precision, problem (trsv sees one triangle), shape.
std::string inputs_identity(const Trial& trial);

/// Equal for trials that one run of `vendor`'s method serves: those of the same inputs, triangle and caches.
std::string comparison_identity(const Trial& trial, const Method& vendor);

}  // namespace gaussweep::driver
