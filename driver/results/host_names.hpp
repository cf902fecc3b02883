#pragma once
/// Distinguishes different machines with the same host name; virtual machines often share one.

#include <map>
#include <string>
#include <vector>

#include "io/records/results.hpp"

namespace gaussweep::driver {

/// Returns the CPU models by host name, without unknown ones.
std::map<std::string, std::string> cpus_by_host(const std::vector<io::HostRow>& hosts);

/// Distinguishes hosts of several files by their CPU model. The number of cores is not compared, because it
/// is that of the job.
class HostNames {
 public:
  /// Renames a host to "name (model)" in records, devices and hosts if an earlier file has a host of the same
  /// name with another CPU model.
  void tell_apart(io::Results& results);

 private:
  std::map<std::string, std::string> cpu_of_;  // by host name
};

}  // namespace gaussweep::driver
