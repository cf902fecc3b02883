#pragma once
/// Loads methods from a user's shared library, which exports the table of registry/gaussweep_method.h.

#include <string>
#include <vector>

#include "kernels/registry/method.hpp"

namespace gaussweep {

/// Loads a shared library and returns the rows of its table, with their functions. The library stays loaded.
/// The library's code runs in this process, so a faulty library can end the process.
/// @throws std::runtime_error that names the fault: not a library for this machine, no function
/// `gaussweep_methods`, another version, or a malformed row. `Registry::add` checks everything else
std::vector<Method> load_library(const std::string& path);

}  // namespace gaussweep
