#pragma once
/// Rows of a matrix shared out over threads. Each row is computed by one thread alone, in an order that does
/// not depend on how many there are.

#include <algorithm>
#include <cstdint>
#include <future>
#include <thread>
#include <vector>

#include "kernels/core/usable_cpus.hpp"

namespace gaussweep {

/// Calls `work(begin, end)` for ranges that together are [0, rows), on `threads` threads. With 0, on as many
/// as it may use CPUs, but on no more than `cost` (elementary operations in all) is worth: starting a thread
/// costs as much as some ten thousand of them. Returns when all are done; rethrows what a range threw.
template <class Work>
void for_row_ranges(std::int64_t rows, int threads, double cost, Work&& work) {
  std::int64_t count = threads;
  if (count <= 0) {
    count = std::min<std::int64_t>(usable_cpus(), static_cast<std::int64_t>(cost / 65536) + 1);
  }
  count = std::max<std::int64_t>(1, std::min(count, rows));
  std::vector<std::future<void>> others;
  for (std::int64_t t = 1; t < count; ++t) {
    others.push_back(std::async(std::launch::async,
                                [&work, rows, count, t] { work(rows * t / count, rows * (t + 1) / count); }));
  }
  work(std::int64_t{0}, rows / count);
  for (auto& other : others) other.get();
}

}  // namespace gaussweep
