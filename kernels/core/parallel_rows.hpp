#pragma once
/// Parallel loops over rows of a matrix, and parallel copies. One thread computes a whole row, so that
/// results do not depend on the number of threads.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <utility>
#include <vector>

#include "kernels/core/usable_cpus.hpp"

namespace gaussweep {

/// Copies of more bytes than this (4 MiB) use several threads, because they exceed a core's private caches.
constexpr double large_bytes = 0x1p22;

/// While an object of this class lives, the calling thread counts as a worker of a parallel loop. Loops that
/// it starts then stay serial.
class ParallelWorker {
 public:
  ParallelWorker() : was_active_(std::exchange(active_, true)) {}
  ParallelWorker(const ParallelWorker&) = delete;
  ParallelWorker& operator=(const ParallelWorker&) = delete;
  ~ParallelWorker() { active_ = was_active_; }
  static bool is_active() { return active_; }

 private:
  static inline thread_local bool active_ = false;
  bool was_active_;
};

/// Calls `work(begin, end)` for disjoint row ranges that cover [0, rows), on `threads` threads. `cost` is the
/// total number of elementary operations. With threads = 0 it uses the usable CPUs, but at most
/// 1 + cost / 65536 threads, because starting a thread costs some ten thousand operations. A nested loop
/// with threads = 0 runs on its calling thread. Returns after all ranges; rethrows exceptions of `work`.
template <class Work>
void for_row_ranges(std::int64_t rows, int threads, double cost, Work&& work) {
  std::int64_t count = threads;
  if (count <= 0 && cost >= 65536 && !ParallelWorker::is_active())
    count = std::min<std::int64_t>(usable_cpus(), static_cast<std::int64_t>(cost / 65536) + 1);
  count = std::max<std::int64_t>(1, std::min(count, rows));
  if (count == 1) return work(std::int64_t{0}, rows);
  const auto range = [&work, rows, count](std::int64_t t) {
    const ParallelWorker worker;
    work(rows * t / count, rows * (t + 1) / count);
  };
  std::vector<std::future<void>> others;
  for (std::int64_t t = 1; t < count; ++t) others.push_back(std::async(std::launch::async, range, t));
  range(0);
  for (auto& other : others) other.get();
}

/// Copies non-overlapping host memory. Copies of more than `large_bytes` bytes are split over several
/// threads. The calling thread makes smaller copies alone, so that the data are in its caches afterwards.
inline void copy_blocked(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t block = std::size_t{1} << 20;
  const auto blocks = static_cast<std::int64_t>((bytes + block - 1) / block);
  const auto size = static_cast<double>(bytes);
  for_row_ranges(blocks, size > large_bytes ? 0 : 1, size, [&](std::int64_t begin, std::int64_t end) {
    const std::size_t first = static_cast<std::size_t>(begin) * block;
    const std::size_t last = std::min(bytes, static_cast<std::size_t>(end) * block);
    std::memcpy(static_cast<char*>(to) + first, static_cast<const char*>(from) + first, last - first);
  });
}

}  // namespace gaussweep
