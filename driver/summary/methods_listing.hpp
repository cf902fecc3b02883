#pragma once
/// The registry's rows as `gaussweep methods` shows them.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// An array with an object a method. Fields: id, problem, method, backends, precisions, needs, capability (90
/// for 9.0; 0: any), parameters ({name, type, default, range or choices, help}), source, summary, vendor,
/// available. `backends` says where a method is meant to run, `available` where this build can run it.
nlohmann::ordered_json methods_json(const std::vector<Method>& methods);

/// A table, and below it the parameters of the methods that have some.
std::string methods_text(const std::vector<Method>& methods, std::size_t width);

}  // namespace gaussweep::driver
