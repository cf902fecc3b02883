/// Finds the memory that this process can use under the limits of the machine, its control groups and the
/// process.

#include "io/files/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace gaussweep::io {
namespace {

/// Returns the number after `name` in a file with lines "name value" or "name: value kB"; -1 if absent.
std::int64_t number_after(const std::filesystem::path& path, const std::string& name) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word;
    std::int64_t value = 0;
    if (words >> word >> value && (word == name || word == name + ":")) return value;
  }
  return -1;
}

/// Returns the number in a file; -1 if the file is missing or has no number ("max").
std::int64_t sole_number(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::int64_t value = -1;
  if (!(file >> value)) return -1;
  return value;
}

constexpr Memory unlimited{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};

Memory minimum(const Memory& a, const Memory& b) {
  return {std::min(a.limit, b.limit), std::min(a.free, b.free)};
}

/// Returns the limit and the free memory of one control group.
Memory memory_of(const std::filesystem::path& group, bool is_version_1) {
  const std::int64_t limit = sole_number(group / (is_version_1 ? "memory.limit_in_bytes" : "memory.max"));
  const std::int64_t used = sole_number(group / (is_version_1 ? "memory.usage_in_bytes" : "memory.current"));
  if (limit < 0 || used < 0) return unlimited;
  // The kernel can reclaim the page cache (memory.stat's inactive_file and active_file).
  std::int64_t unreclaimable = used;
  for (const char* cache : {"inactive_file", "active_file"}) {
    const std::string name = std::string(is_version_1 ? "total_" : "") + cache;
    unreclaimable -= std::max<std::int64_t>(number_after(group / "memory.stat", name), 0);
  }
  // Clamped, because limit and usage are read at different times. "Unlimited" in version 1 is nearly the
  // largest integer.
  const std::int64_t free_bytes = limit - std::clamp<std::int64_t>(unreclaimable, 0, limit);
  return {static_cast<double>(limit), static_cast<double>(free_bytes)};
}

/// Returns a limit of this process (`ulimit -v`, `ulimit -d`) and the free memory under it. @param used_bytes
/// the bytes that count towards the limit
Memory memory_of(int resource, double used_bytes) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  const auto limit_bytes = static_cast<double>(limit.rlim_cur);
  return {limit_bytes, std::max(0.0, limit_bytes - used_bytes)};
}

/// Returns the minimum over the limits of this process for its address space and its private data.
Memory process_memory() {
  double pages[6] = {};  // the columns of statm: size, resident, shared, text, unused, data
  std::ifstream file("/proc/self/statm");
  for (double& count : pages) file >> count;
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  return minimum(memory_of(RLIMIT_AS, page * pages[0]), memory_of(RLIMIT_DATA, page * pages[5]));
}

}  // namespace

std::int64_t total_memory_bytes() {
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

Memory usable_memory() {
  Memory machine = unlimited;
  machine.limit = static_cast<double>(total_memory_bytes());
  const std::int64_t kilobytes = number_after("/proc/meminfo", "MemAvailable");
  if (kilobytes >= 0) machine.free = static_cast<double>(kilobytes) * 1024;
  return minimum(minimum(machine, process_memory()), group_memory("/proc/self/cgroup", "/sys/fs/cgroup"));
}

double available_memory_bytes() {
  return usable_memory().free;
}

Memory group_memory(const std::filesystem::path& groups, const std::filesystem::path& top) {
  Memory memory = unlimited;
  std::ifstream file(groups);
  for (std::string line; std::getline(file, line);) {  // "4:memory:/job_1/task_0" or "0::/job_1/task_0"
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_version_1 = controllers.find(",memory,") != std::string::npos;
    if (!is_version_1 && controllers != ",,") continue;
    const std::filesystem::path root = is_version_1 ? top / "memory" : top;
    std::filesystem::path group = line.substr(second + 1);
    // In a container, the listed path may be the one on the host, so some levels may not exist here. Reads
    // every level that exists, and always the top.
    for (;; group = group.parent_path()) {
      memory = minimum(memory, memory_of(root / group.relative_path(), is_version_1));
      if (!group.has_relative_path()) break;
    }
  }
  return memory;
}

std::int64_t memory_kills() {
  const std::int64_t group = number_after("/sys/fs/cgroup/memory.events", "oom_kill");
  return std::max(group, number_after("/proc/vmstat", "oom_kill"));
}

}  // namespace gaussweep::io
