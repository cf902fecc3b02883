#pragma once
/// Facts of the machine this process runs on.

#include <string>
#include <vector>

#include "io/files/memory.hpp"
#include "kernels/core/usable_cpus.hpp"

namespace gaussweep::driver {

/// The processor's model name, as the kernel tells it.
std::string cpu_model();
/// "Linux 6.1.0 x86_64".
std::string operating_system();
// Its CPUs and memory: kernels/ shares work out over the ones, io/ must know the other, for what a file
// announces has to fit.
using gaussweep::usable_cpus;
using io::available_memory_bytes;
using io::group_memory;
using io::Memory;
using io::memory_facts;
using io::memory_kills;
using io::total_memory_bytes;

/// A CPU as the system counts it, and the core that it is a thread of.
struct LogicalCpu {
  int cpu = 0, package = 0, core = 0;
};
/// Part `part` of `parts` equal ones: whole cores, neighbours in one package as far as may be. Empty where
/// there are fewer cores than parts.
std::vector<int> share_of(std::vector<LogicalCpu> cpus, int part, int parts);
/// Keeps this process, and those that it starts from now on, to its part of the CPUs that it may use. Nothing
/// changes where there are fewer cores than parts, or the system does not tell which they are.
void keep_to_share(int part, int parts);

}  // namespace gaussweep::driver
