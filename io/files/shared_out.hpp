#pragma once
/// Splits work on large blocks of memory or of a file over a few threads.

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <future>
#include <vector>

namespace gaussweep::io {

/// Returns the number of threads for checksums and lines: at most the CPUs that the caller may run on, and at
/// most six, which leaves memory bandwidth and cores to other work.
inline std::size_t sharing_threads() {
  constexpr std::size_t most = 6;
  cpu_set_t usable;
  // The call fails if the machine has more CPUs than cpu_set_t can hold.
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return most;
  return std::clamp<std::size_t>(static_cast<std::size_t>(CPU_COUNT(&usable)), 1, most);
}

/// Calls work(i) for every i below `count`, each on its own thread, the first on the caller's. Waits for all
/// and rethrows an exception.
template <class Work>
void share_out(std::size_t count, Work&& work) {
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < count; ++i)
    others.push_back(std::async(std::launch::async, [&work, i] { work(i); }));
  if (count > 0) work(std::size_t{0});
  for (std::future<void>& other : others) other.get();
}

}  // namespace gaussweep::io
