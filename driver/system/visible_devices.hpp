#pragma once
/// Parses CUDA_VISIBLE_DEVICES.

#include <string>
#include <vector>

namespace gaussweep::driver {

/// Returns the MIG parts that CUDA_VISIBLE_DEVICES names; empty if it names none. CUDA shows a process only
/// the first of them and identifies them only by these names.
std::vector<std::string> visible_parts(const std::string& visible_devices);

}  // namespace gaussweep::driver
