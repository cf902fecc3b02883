#pragma once
/// The memory that this process can use under all limits: of the machine, of control groups and of the
/// process.

#include <cstdint>
#include <filesystem>

namespace gaussweep::io {

/// Returns the memory of the machine.
std::int64_t total_memory_bytes();
/// Memory in bytes; infinity if there is no limit.
struct Memory {
  double most;  ///< the limit
  double free;  ///< what can be allocated now
};
/// Returns the minimum of what the machine, the control groups and the process limits (`ulimit -v`, `-d`)
/// allow.
Memory memory_facts();
/// Returns memory_facts().free.
double available_memory_bytes();
/// Returns what the control groups of a process allow. All levels are read, because a batch job's limit is
/// usually set far below the top. Page cache counts as free, because the kernel reclaims it.
/// @param groups the file that names them (/proc/self/cgroup), version 1 or 2
/// @param top their mount point (/sys/fs/cgroup)
Memory group_memory(const std::filesystem::path& groups, const std::filesystem::path& top);
/// Returns the number of processes killed by the kernel for lack of memory, as visible to this process; -1 if
/// unknown.
std::int64_t memory_kills();
}  // namespace gaussweep::io
