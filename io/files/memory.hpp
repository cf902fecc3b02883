#pragma once
/// The memory that this process can use. It is limited by the machine, by the process's control groups
/// (cgroups) and by ulimit.

#include <cstdint>
#include <filesystem>

namespace gaussweep::io {

/// Returns the memory of the machine.
std::int64_t total_memory_bytes();
/// Memory in bytes; infinity if there is no limit.
struct Memory {
  double limit;
  double free;  ///< bytes that can be allocated now
};
/// Returns the minimum over the machine, the control groups and the process limits (`ulimit -v`, `-d`).
Memory usable_memory();
/// Returns the free bytes of usable_memory().
double available_memory_bytes();
/// Returns the minimum over the control groups of a process. Reads all levels of the hierarchy, because a
/// batch job's limit is usually set far below the top. Page cache counts as free, because the kernel reclaims
/// it.
/// @param groups the file that lists the groups (/proc/self/cgroup), version 1 or 2
/// @param top the mount point of the groups (/sys/fs/cgroup)
Memory group_memory(const std::filesystem::path& groups, const std::filesystem::path& top);
/// Returns the number of processes that the kernel has killed for lack of memory, in this process's control
/// group or on the machine; -1 if unknown.
std::int64_t memory_kills();
}  // namespace gaussweep::io
