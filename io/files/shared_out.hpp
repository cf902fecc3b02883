#pragma once
/// Work on large pieces of memory or of a file, shared out over a few threads.

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <future>
#include <vector>

namespace gaussweep::io {

/// Threads that checksums and lines are shared out over. They are no more than the CPUs that the caller may
/// run on. Some memory bandwidth, and most cores, stay for others.
inline std::size_t sharing_threads() {
  constexpr std::size_t most = 6;
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return most;  // more than a set has places for
  return std::clamp<std::size_t>(static_cast<std::size_t>(CPU_COUNT(&usable)), 1, most);
}

/// Calls work(i) for every i below `count`, each on a thread of its own, the first on the caller's. Returns
/// when all are done; rethrows what one threw.
template <class Work>
void share_out(std::size_t count, Work&& work) {
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < count; ++i)
    others.push_back(std::async(std::launch::async, [&work, i] { work(i); }));
  if (count > 0) work(std::size_t{0});
  for (std::future<void>& other : others) other.get();
}

}  // namespace gaussweep::io
