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

/// Returns the value after `name` in a file of "name value" or "name: value kB" lines; -1 if absent.
std::int64_t number_in(const std::filesystem::path& path, const std::string& name) {
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

/// Returns the number that a file consists of; -1 if it is missing or not a number ("max").
std::int64_t number_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::int64_t value = -1;
  if (!(file >> value)) return -1;
  return value;
}

constexpr Memory unlimited{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};

Memory least(const Memory& a, const Memory& b) {
  return {std::min(a.most, b.most), std::min(a.free, b.free)};
}

/// Returns what one control group allows.
Memory memory_of(const std::filesystem::path& group, bool old) {
  const std::int64_t limit = number_of(group / (old ? "memory.limit_in_bytes" : "memory.max"));
  const std::int64_t used = number_of(group / (old ? "memory.usage_in_bytes" : "memory.current"));
  if (limit < 0 || used < 0) return unlimited;
  std::int64_t held = used;
  for (const char* cache : {"inactive_file", "active_file"}) {
    const std::string name = std::string(old ? "total_" : "") + cache;
    held -= std::max<std::int64_t>(number_in(group / "memory.stat", name), 0);
  }
  // Clamped, because limit and usage are read at different times. "Unlimited" in version 1 is nearly the
  // largest integer.
  const std::int64_t room = limit - std::clamp<std::int64_t>(held, 0, limit);
  return {static_cast<double>(limit), static_cast<double>(room)};
}

/// Returns what a limit of this process (`ulimit -v`, `ulimit -d`) allows. @param taken the bytes that count
/// towards the limit
Memory memory_of(int resource, double taken) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  const auto most = static_cast<double>(limit.rlim_cur);
  return {most, std::max(0.0, most - taken)};
}

/// Returns what the limits of this process allow for its address space and its private data.
Memory process_memory() {
  double pages[6] = {};  // size, resident, shared, text, nothing, data
  std::ifstream file("/proc/self/statm");
  for (double& count : pages) file >> count;
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  return least(memory_of(RLIMIT_AS, page * pages[0]), memory_of(RLIMIT_DATA, page * pages[5]));
}

}  // namespace

std::int64_t total_memory_bytes() {
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

Memory memory_facts() {
  Memory machine = unlimited;
  machine.most = static_cast<double>(total_memory_bytes());
  const std::int64_t kilobytes = number_in("/proc/meminfo", "MemAvailable");
  if (kilobytes >= 0) machine.free = static_cast<double>(kilobytes) * 1024;
  return least(least(machine, process_memory()), group_memory("/proc/self/cgroup", "/sys/fs/cgroup"));
}

double available_memory_bytes() {
  return memory_facts().free;
}

Memory group_memory(const std::filesystem::path& groups, const std::filesystem::path& top) {
  Memory memory = unlimited;
  std::ifstream file(groups);
  for (std::string line; std::getline(file, line);) {  // "4:memory:/job_1/task_0" or "0::/job_1/task_0"
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool old = controllers.find(",memory,") != std::string::npos;
    if (!old && controllers != ",,") continue;
    const std::filesystem::path root = old ? top / "memory" : top;
    std::filesystem::path group = line.substr(second + 1);
    // A container may list the path as seen from the host. Reads every level that exists, and always the top.
    for (;; group = group.parent_path()) {
      memory = least(memory, memory_of(root / group.relative_path(), old));
      if (!group.has_relative_path()) break;
    }
  }
  return memory;
}

std::int64_t memory_kills() {
  const std::int64_t group = number_in("/sys/fs/cgroup/memory.events", "oom_kill");
  return std::max(group, number_in("/proc/vmstat", "oom_kill"));
}

}  // namespace gaussweep::io
