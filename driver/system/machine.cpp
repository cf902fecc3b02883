/// Finds properties of the machine that this process runs on.

#include "driver/system/machine.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <sched.h>
#include <spdlog/spdlog.h>
#include <sstream>
#include <sys/utsname.h>
#include <unistd.h>
#include <utility>

#include "driver/system/clock.hpp"

namespace gaussweep::driver {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("model name", 0) == 0) {
      const std::size_t colon = line.find(':');
      if (colon != std::string::npos && colon + 2 <= line.size()) return line.substr(colon + 2);
    }
  }
  return "unknown CPU";
}

std::string operating_system() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown";
  return std::string(names.sysname) + " " + names.release + " " + names.machine;
}

std::vector<int> cpu_share_of(std::vector<LogicalCpu> cpus, int part, int parts) {
  const auto core_of = [](const LogicalCpu& cpu) { return std::pair(cpu.package, cpu.core); };
  std::sort(cpus.begin(), cpus.end(), [&](const LogicalCpu& x, const LogicalCpu& y) {
    return std::pair(core_of(x), x.cpu) < std::pair(core_of(y), y.cpu);
  });
  std::vector<std::size_t> firsts;  // index of each core's first logical CPU
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    if (i == 0 || core_of(cpus[i]) != core_of(cpus[i - 1])) firsts.push_back(i);
  }
  const std::size_t cores = firsts.size(), index = static_cast<std::size_t>(part),
                    count = static_cast<std::size_t>(parts);
  if (cores < count) return {};
  firsts.push_back(cpus.size());
  std::vector<int> share;
  for (std::size_t i = firsts[cores * index / count]; i < firsts[cores * (index + 1) / count]; ++i)
    share.push_back(cpus[i].cpu);
  return share;
}

void bind_to_cpu_share(int part, int parts) {
  cpu_set_t set;
  if (parts <= 1 || ::sched_getaffinity(0, sizeof set, &set) != 0) return;
  std::vector<LogicalCpu> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/topology/", cpu);
    LogicalCpu cpu_facts{cpu, 0, 0};
    if (!(std::ifstream(folder + "physical_package_id") >> cpu_facts.package)) return;
    if (!(std::ifstream(folder + "core_id") >> cpu_facts.core)) return;
    cpus.push_back(cpu_facts);
  }
  const std::vector<int> share = cpu_share_of(std::move(cpus), part, parts);
  if (share.empty()) return;
  CPU_ZERO(&set);
  for (const int cpu : share) CPU_SET(cpu, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0)
    spdlog::warn("this rank cannot be bound to its share of the cores: {}", std::strerror(errno));
}

void CpuDemand::sample() {
  const double now = now_seconds();
  if (now < next_) return;
  next_ = now + 0.2;
  std::ifstream file("/proc/loadavg");  // three averages, then "running threads/all threads"
  double average = 0;
  int threads = 0;
  if (!(file >> average >> average >> average >> threads)) return;
  sum_ += threads - ignored_;
  ++count_;
}

double CpuDemand::mean() const {
  const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
  return count_ == 0 || cpus < 1 ? std::nan("") : sum_ / count_ / static_cast<double>(cpus);
}

std::vector<std::string> visible_mig_devices(const std::string& visible_devices) {
  std::vector<std::string> mig_devices;
  std::istringstream names(visible_devices);
  for (std::string name; std::getline(names, name, ',');) {
    const std::size_t begin = name.find_first_not_of(' ');
    if (begin == std::string::npos || name.compare(begin, 4, "MIG-") != 0) return {};
    mig_devices.push_back(name.substr(begin, name.find_last_not_of(' ') + 1 - begin));
  }
  return mig_devices;
}

}  // namespace gaussweep::driver
