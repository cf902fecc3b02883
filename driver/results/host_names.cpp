/// Distinguishes different machines with the same host name; virtual machines often share one.

#include "driver/results/host_names.hpp"

#include <fmt/format.h>

#include "driver/base/text_format.hpp"

namespace gaussweep::driver {

std::map<std::string, std::string> cpus_by_host(const std::vector<io::HostRow>& hosts) {
  std::map<std::string, std::string> cpus;
  for (const io::HostRow& row : hosts) {
    if (!row.cpu.empty()) cpus[row.host] = row.cpu;
  }
  return cpus;
}

std::string HostNames::unique_name(const io::HostRow& row) {
  std::string name = row.host;
  // Returns true if `name` has another value in `known`. Stores the value of a new name.
  const auto is_other = [&name](auto& known, const auto& value) {
    return known.try_emplace(name, value).first->second != value;
  };
  if (!row.cpu.empty() && is_other(cpu_of_, std::string(row.cpu))) {
    name += fmt::format(" ({})", row.cpu);
    cpu_of_.try_emplace(name, row.cpu);
  }
  if (row.blas_threads > 0 && is_other(threads_of_, row.blas_threads)) {
    name += fmt::format(" ({})", counted(static_cast<std::size_t>(row.blas_threads), "thread"));
    cpu_of_.try_emplace(name, row.cpu);
    threads_of_.try_emplace(name, row.blas_threads);
  }
  return name;
}

void HostNames::make_names_unique(io::Results& results) {
  std::map<std::string, std::string> new_names;  // by the host's old name
  for (io::HostRow& row : results.hosts) {
    const std::string name = unique_name(row);
    if (name == row.host) continue;
    new_names[row.host] = name;
    row.host = name;
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
