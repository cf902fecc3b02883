#pragma once
/// What CUDA_VISIBLE_DEVICES says.

#include <string>
#include <vector>

namespace gaussweep::driver {

/// The parts of GPUs (MIG) that CUDA_VISIBLE_DEVICES names; empty where it names none. CUDA shows a process
/// the first of them only, and knows them by nothing but these names.
std::vector<std::string> visible_parts(const std::string& visible_devices);

}  // namespace gaussweep::driver
