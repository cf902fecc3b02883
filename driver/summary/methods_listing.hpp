#pragma once
/// The listing of all methods that `gaussweep methods` prints.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// Returns an array with one object per method. Fields: id, problem, method, backends, precisions, needs,
/// capability (90 for 9.0; 0: any), parameters ({name, type, default, range or choices, help}), source,
/// summary, vendor, available. `backends` are those that the method supports, `available` those that this
/// build can run.
nlohmann::ordered_json methods_json(const std::vector<Method>& methods);

/// Returns a table of the methods, and below it a table of their parameters. @param width of the terminal, in
/// characters
std::string methods_text(const std::vector<Method>& methods, std::size_t width);

}  // namespace gaussweep::driver
