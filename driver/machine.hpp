#pragma once
/// Facts of the machine this process runs on.

#include <cstdint>
#include <string>

namespace gaussweep::driver {

/// The processor's model name, as the kernel tells it.
std::string cpu_model();
/// "Linux 6.1.0 x86_64".
std::string operating_system();
std::int64_t total_memory_bytes();
/// What can still be taken, the control group's limit included.
double available_memory_bytes();
/// How often the kernel has killed a process for want of memory, as this process can see it; -1 if unknown.
std::int64_t memory_kills();
/// CPUs that this process may use.
int usable_cpus();

}  // namespace gaussweep::driver
