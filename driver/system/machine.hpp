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
// These functions are defined in kernels/ and io/, which use them, too.
using gaussweep::usable_cpus;
using io::available_memory_bytes;
using io::group_memory;
using io::Memory;
using io::memory_kills;
using io::total_memory_bytes;
using io::usable_memory;

/// A logical CPU (hardware thread), with its package and core.
struct LogicalCpu {
  int cpu = 0, package = 0, core = 0;
};
/// Splits the CPUs into `parts` equal sets of whole cores and returns the set with the index `part`. A set is
/// within one package (socket) if possible. Returns an empty list if there are fewer cores than parts.
std::vector<int> cpu_share_of(std::vector<LogicalCpu> cpus, int part, int parts);
/// Binds this process and its later children to part number `part` (from 0) of the usable CPUs, which are
/// divided into `parts`. Does nothing if there are fewer cores than parts, or if the system does not report
/// the topology.
void bind_to_cpu_share(int part, int parts);

/// If more threads per CPU than this run or wait for a CPU, measured times on the CPU are too long. A run
/// that has the machine for itself has at most about one thread per CPU.
inline constexpr double max_cpu_demand = 1.25;

/// Measures how many threads of this host run or wait for a CPU.
class CpuDemand {
 public:
  /// @param ignored number of running threads to subtract, such as those of the measuring process
  explicit CpuDemand(int ignored) : ignored_(ignored) {}
  /// Samples the number of threads, unless the last sample is less than 0.2 s old. Does nothing if the system
  /// does not report the number.
  void sample();
  /// Returns the mean number of threads per CPU of the host; NaN without samples. Above 1, threads wait.
  double mean() const;

 private:
  int ignored_;
  double sum_ = 0, next_ = 0;
  int count_ = 0;
};

/// Returns the MIG devices (parts of a GPU: NVIDIA's Multi-Instance GPU) that a value of CUDA_VISIBLE_DEVICES
/// names; empty if it names none. CUDA shows a process only the first of the named MIG devices, and
/// identifies MIG devices only by these names.
std::vector<std::string> visible_mig_devices(const std::string& visible_devices);

}  // namespace gaussweep::driver
