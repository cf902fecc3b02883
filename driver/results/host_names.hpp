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

/// Distinguishes hosts of several files by their CPU model and the number of BLAS threads per worker, because
/// times and peaks of the CPU depend on both. The number of cores is not compared, because it depends on the
/// batch job.
class HostNames {
 public:
  /// Renames a host to "name (model)" in records, devices and hosts if an earlier file has a host of the same
  /// name with another CPU model, and to "name (2 threads)" if it has one with another number of threads.
  void tell_apart(io::Results& results);
  /// Returns the name of a host under the same rules, and remembers its CPU and threads.
  std::string name_of(const io::HostRow& row);

 private:
  std::map<std::string, std::string> cpu_of_;       // by host name
  std::map<std::string, std::int64_t> threads_of_;  // by host name
};

}  // namespace gaussweep::driver
