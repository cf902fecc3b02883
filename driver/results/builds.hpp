#pragma once
/// Detects records that different builds of the program made.

#include <string>
#include <vector>

#include "io/records/record.hpp"

namespace gaussweep::driver {

/// Returns "the records are from 2 builds: commit 1a2b (12), commit 3c4d (30)"; empty if all records are of
/// one build. Skipped records do not count, because no build ran them.
/// @param commit of a build that is about to add records; empty: none
std::string mixed_builds(const std::vector<io::Record>& records, const std::string& commit = {});

}  // namespace gaussweep::driver
