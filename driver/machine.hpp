#pragma once
/// Facts of the machine this process runs on.

#include <cstdint>
#include <filesystem>
#include <string>

namespace gaussweep::driver {

/// The processor's model name, as the kernel tells it.
std::string cpu_model();
/// "Linux 6.1.0 x86_64".
std::string operating_system();
std::int64_t total_memory_bytes();
/// What can still be taken, the limits of control groups included.
double available_memory_bytes();
/// What the control groups of a process allow it still to take (infinity: no limit): a batch job's limit is
/// that of a group far below the top. Memory that only caches files does not count as taken, for it is given
/// back where it is wanted.
/// @param groups the file that names them (/proc/self/cgroup), version 1 or 2
/// @param top where they are mounted (/sys/fs/cgroup)
double group_memory_bytes(const std::filesystem::path& groups, const std::filesystem::path& top);
/// How often the kernel has killed a process for want of memory, as this process can see it; -1 if unknown.
std::int64_t memory_kills();
/// CPUs that this process may use.
int usable_cpus();

}  // namespace gaussweep::driver
