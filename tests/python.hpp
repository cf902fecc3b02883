#pragma once
/// The source tree and its Python scripts.

#include "tests/testing.hpp"

namespace gaussweep::testing_help {

/// Returns the root of the source tree. Code that uses it compiles to the same object in every clone.
std::filesystem::path source_folder();

/// Runs `script`, a path below the root, by tests/run_python.sh. @return "", or the output of a failure
std::string run_python(const std::string& script, const std::vector<std::string>& arguments);

}  // namespace gaussweep::testing_help
