#include "driver/results/host_names.hpp"

#include <fmt/format.h>

namespace gaussweep::driver {

std::map<std::string, std::string> cpus_by_host(const std::vector<io::HostRow>& hosts) {
  std::map<std::string, std::string> cpus;
  for (const io::HostRow& row : hosts) {
    if (!row.cpu.empty()) cpus[row.host] = row.cpu;
  }
  return cpus;
}

void HostNames::tell_apart(io::Results& results) {
  std::map<std::string, std::string> new_names;  // new names of renamed hosts
  for (io::HostRow& row : results.hosts) {
    if (row.cpu.empty() || cpu_of_.try_emplace(row.host, row.cpu).first->second == row.cpu) continue;
    const std::string& name = new_names[row.host] = fmt::format("{} ({})", row.host, row.cpu);
    row.host = name;
    cpu_of_.try_emplace(name, row.cpu);
  }
  if (new_names.empty()) return;
  const auto rename = [&new_names](io::Text& host) {
    const auto found = new_names.find(host);
    if (found != new_names.end()) host = found->second;
  };
  for (io::Record& record : results.records) rename(record.host);
  for (io::DeviceRow& row : results.devices) rename(row.host);
}

}  // namespace gaussweep::driver
