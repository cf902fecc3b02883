#pragma once
/// A parallel loop for work on large blocks of memory or of a file.

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <future>
#include <vector>

namespace gaussweep::io {

/// Returns the number of threads for checksums and the parsing of lines: the CPUs that the caller may run on,
/// but at most six, which leaves memory bandwidth and cores for other work.
inline std::size_t parallel_threads() {
  constexpr std::size_t max_threads = 6;
  cpu_set_t usable;
  // The call fails if the machine has more CPUs than cpu_set_t can hold.
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return max_threads;
  return std::clamp<std::size_t>(static_cast<std::size_t>(CPU_COUNT(&usable)), 1, max_threads);
}

/// Calls work(i) for i = 0, ..., count - 1, on `count` threads including the caller. Waits for all calls and
/// rethrows an exception.
template <class Work>
void parallel_for(std::size_t count, Work&& work) {
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < count; ++i)
    others.push_back(std::async(std::launch::async, [&work, i] { work(i); }));
  if (count > 0) work(std::size_t{0});
  for (std::future<void>& other : others) other.get();
}

}  // namespace gaussweep::io
