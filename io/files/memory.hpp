#pragma once
/// How much memory this process may take, by all who limit it.

#include <cstdint>
#include <filesystem>

namespace gaussweep::io {

/// Of the machine.
std::int64_t total_memory_bytes();
/// Memory in bytes; infinity where nothing limits it.
struct Memory {
  double most;  ///< that there ever is
  double free;  ///< that can be taken now
};
/// Of this process: the least that the machine, its control groups and its own limits (`ulimit -v`, `-d`)
/// allow.
Memory memory_facts();
/// Its `free`.
double available_memory_bytes();
/// What the control groups of a process allow it: a batch job's limit is that of a group far below the top.
/// Memory that only caches files counts as free, for it is given back where it is wanted.
/// @param groups the file that names them (/proc/self/cgroup), version 1 or 2
/// @param top where they are mounted (/sys/fs/cgroup)
Memory group_memory(const std::filesystem::path& groups, const std::filesystem::path& top);
/// How often the kernel has killed a process for want of memory, as this process can see it; -1 if unknown.
std::int64_t memory_kills();
}  // namespace gaussweep::io
