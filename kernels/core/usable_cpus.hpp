#pragma once
/// The number of CPUs that this process may use.

#include <sched.h>

#include <algorithm>
#include <thread>

namespace gaussweep {

/// Returns the number of CPUs in the calling thread's affinity mask. MPI and batch systems restrict the mask,
/// but std::thread::hardware_concurrency may ignore it.
inline int usable_cpus() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  // The machine has more CPUs than a cpu_set_t holds.
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace gaussweep
