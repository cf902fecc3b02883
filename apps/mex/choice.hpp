#pragma once
/// Converts the texts of a call from MATLAB to a row of the registry (a method), a backend and parameters.
/// For an invalid text every function throws CallError, whose message lists the allowed values.

#include <map>
#include <string>
#include <vector>

#include "kernels/registry/method.hpp"

namespace gaussweep::mex {

/// The GPU of this process, if there is one.
struct Gpu {
  bool exists = false;
  int capability = 0;
  std::string reason;  ///< if there is no GPU: the reason
};

/// Returns the row that `name` selects: "problem/variant", a variant, or a problem. A variant is searched for
/// in `problems`, in order. The name of a problem selects the vendor's row for it, on the GPU if there is
/// one. An empty name selects the first problem. @throws CallError gaussweep:unknownMethod
const Method& choose_method(const Registry& registry, const std::vector<Problem>& problems,
                            const std::string& name, const Gpu& gpu);

/// Returns the backend: `wanted`, or for "auto" the GPU if the method and the GPU allow it, else the CPU.
/// @throws CallError gaussweep:usage, gaussweep:device
Backend choose_backend(const Method& method, const std::string& wanted, const Gpu& gpu);

/// Returns complete parameters: the values of `options`, else the row's defaults.
/// @throws CallError gaussweep:usage
Parameters choose_parameters(const Method& method, const std::map<std::string, ParameterValue>& options);

}  // namespace gaussweep::mex
