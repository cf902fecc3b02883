#pragma once
/// How many CPUs there are for this process.

#include <sched.h>

#include <algorithm>
#include <thread>

namespace gaussweep {

/// CPUs that the calling thread may run on: fewer than the machine has where ranks or jobs share it. (The
/// standard library counts those of the machine.)
inline int usable_cpus() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1,
                  static_cast<int>(std::thread::hardware_concurrency()));  // more than a set has places for
}

}  // namespace gaussweep
