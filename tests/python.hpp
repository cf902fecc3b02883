#pragma once
/// The source tree, and its Python scripts.

#include <filesystem>
#include <string>
#include <vector>

namespace gaussweep::testing_help {

/// The root of the source tree. What reads it is the same object in every clone.
std::filesystem::path source_folder();

/// Runs `script`, a path below the root, by tests/run_python.sh: "" where it ends well, else what it said.
std::string run_python(const std::string& script, const std::vector<std::string>& arguments);

}  // namespace gaussweep::testing_help
