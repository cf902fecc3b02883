#pragma once
/// Distinguishes different machines with the same host name; virtual machines often share one.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/records/results.hpp"

namespace gaussweep::driver {

/// Returns the CPU models by host name, without unknown ones.
std::map<std::string, std::string> cpus_by_host(const std::vector<io::HostRow>& hosts);

/// Gives different hosts of several files different names. Hosts are distinguished by CPU model and number of
/// BLAS threads per worker, because the CPU's times and peaks depend on both. The number of cores is not
/// compared, because it depends on the batch job.
class HostNames {
 public:
  /// Renames a host in records, devices and hosts if an earlier `results` had another host of that name. The
  /// new name is "name (model)" if the CPU models differ, and "name (2 threads)" if the numbers of threads
  /// differ.
  void make_names_unique(io::Results& results);
  /// Returns the name that `make_names_unique` gives to a host. Remembers the host's CPU model and number of
  /// threads for later calls.
  std::string unique_name(const io::HostRow& row);

 private:
  std::map<std::string, std::string> cpu_of_;       // by host name
  std::map<std::string, std::int64_t> threads_of_;  // by host name
};

}  // namespace gaussweep::driver
