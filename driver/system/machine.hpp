#pragma once
/// Properties of the machine that this process runs on.

#include <string>
#include <vector>

#include "io/files/memory.hpp"
#include "kernels/core/usable_cpus.hpp"

namespace gaussweep::driver {

/// Returns the CPU's model name from /proc/cpuinfo.
std::string cpu_model();
/// Returns the kernel's name, release and architecture: "Linux 6.1.0 x86_64".
std::string operating_system();
// These functions are defined in kernels/ and io/, because both modules use them, too.
using gaussweep::usable_cpus;
using io::available_memory_bytes;
using io::group_memory;
using io::Memory;
using io::memory_facts;
using io::memory_kills;
using io::total_memory_bytes;

/// A logical CPU (hardware thread), with its package and core.
struct LogicalCpu {
  int cpu = 0, package = 0, core = 0;
};
/// Splits the CPUs into `parts` equal sets of whole cores and returns set `part`. Keeps a set within one
/// package if possible. Empty if there are fewer cores than parts.
std::vector<int> cpu_share_of(std::vector<LogicalCpu> cpus, int part, int parts);
/// Binds this process and its later children to its part of the usable CPUs. Does nothing if there are fewer
/// cores than parts, or if the system does not report the topology.
void bind_to_cpu_share(int part, int parts);

/// With more running threads per CPU, times on the CPU are too long. A run alone has at most about one.
inline constexpr double max_cpu_demand = 1.25;

/// Measures how many threads of this host run or wait for a CPU.
class CpuDemand {
 public:
  /// @param ignored number of running threads that do not count
  explicit CpuDemand(int ignored) : ignored_(ignored) {}
  /// Takes a sample, at most every 0.2 s. Does nothing if the system does not report the number.
  void sample();
  /// Returns the mean of the samples, divided by the host's CPUs; NaN without samples. Above 1, threads wait.
  double mean() const;

 private:
  int ignored_;
  double sum_ = 0, next_ = 0;
  int count_ = 0;
};

/// Returns the MIG parts (NVIDIA: MIG devices) that a value of CUDA_VISIBLE_DEVICES names; empty if it names
/// none. CUDA shows a process only the first of them and identifies them only by these names.
std::vector<std::string> visible_parts(const std::string& visible_devices);

}  // namespace gaussweep::driver
