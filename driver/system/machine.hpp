#pragma once
/// Facts of the machine this process runs on.

#include <string>

#include "io/files/memory.hpp"

namespace gaussweep::driver {

/// The processor's model name, as the kernel tells it.
std::string cpu_model();
/// "Linux 6.1.0 x86_64".
std::string operating_system();
// Its memory: io/ must know it too, for what a file announces has to fit.
using io::available_memory_bytes;
using io::group_memory;
using io::Memory;
using io::memory_facts;
using io::memory_kills;
using io::total_memory_bytes;
/// CPUs that this process may use.
int usable_cpus();

}  // namespace gaussweep::driver
