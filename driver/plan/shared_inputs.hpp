#pragma once
/// Identities of the data that trials share: their inputs, and the vendor's run that they are compared with.

#include <string>

#include "driver/plan/trial.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// Returns the identity of a trial's inputs: matrices, precision, shape, and the triangle if the problem
/// reads one.
std::string inputs_identity(const Trial& trial);

/// Returns the identity of the vendor's run that a trial is compared with: inputs, vendor method, triangle
/// and cache state.
std::string comparison_identity(const Trial& trial, const Method& vendor);

}  // namespace gaussweep::driver
