#pragma once
/// Which builds of the program made the records of a directory.

#include <string>
#include <vector>

#include "io/records/record.hpp"

namespace gaussweep::driver {

/// "records of 2 builds stand side by side: commit 1a2b (12), commit 3c4d (30)"; empty where all are of one.
/// What was skipped is nobody's work.
/// @param commit of a build that is about to add some; empty: none
std::string mixed_builds(const std::vector<io::Record>& records, const std::string& commit = {});

}  // namespace gaussweep::driver
