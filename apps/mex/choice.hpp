#pragma once
/// From the words of a call to a row of the registry, a backend and parameters. Every function throws Refusal
/// where the words mean nothing, and then says what is allowed.

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/registry/method.hpp"

namespace gaussweep::mex {

/// What the methods can run on here.
struct Gpu {
  bool there = false;
  int capability = 0;
  std::string why_not;  ///< where there is none
};

/// The row that `name` means: "problem/variant", a variant, or a problem. A variant is looked for in
/// `problems`, in order. A problem means its vendor's row, that of the GPU where there is one. An empty name
/// means the first problem.
/// @throws Refusal gaussweep:unknownMethod
const Method& choose_method(const Registry& registry, const std::vector<Problem>& problems,
                            const std::string& name, const Gpu& gpu);

/// Where it runs: `wanted`, or for "auto" the GPU if the method and the GPU allow it, else the CPU.
/// @throws Refusal gaussweep:usage, gaussweep:device
Backend choose_backend(const Method& method, const std::string& wanted, const Gpu& gpu);

/// A name and its value as a caller gives them.
using Option = std::pair<std::string, std::variant<double, std::string>>;

/// Complete parameters: what `options` say, else the row's defaults.
/// @throws Refusal gaussweep:usage
Parameters choose_parameters(const Method& method, const std::vector<Option>& options);

}  // namespace gaussweep::mex
