#pragma once
/// Rows of a matrix, and bytes, shared out over threads. Each row is computed by one thread alone, in an
/// order that does not depend on how many there are.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <utility>
#include <vector>

#include "kernels/core/usable_cpus.hpp"

namespace gaussweep {

/// More bytes than a core's own caches keep.
constexpr double large_bytes = 0x1p22;

/// While the calling thread has one of several ranges.
class Share {
 public:
  Share() : had_(std::exchange(has_one_, true)) {}
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  ~Share() { has_one_ = had_; }
  static bool has_one() { return has_one_; }

 private:
  static inline thread_local bool has_one_ = false;
  bool had_;
};

/// Calls `work(begin, end)` for ranges that together are [0, rows), on `threads` threads. With 0, on as many
/// as it may use CPUs, but on no more than `cost` is worth. That is elementary operations in all, and
/// starting a thread costs some ten thousand of them. Within a range of others it is one thread: these have
/// the CPUs. Returns when all are done; rethrows what a range threw.
template <class Work>
void for_row_ranges(std::int64_t rows, int threads, double cost, Work&& work) {
  std::int64_t count = threads;
  if (count <= 0 && cost >= 65536 && !Share::has_one())
    count = std::min<std::int64_t>(usable_cpus(), static_cast<std::int64_t>(cost / 65536) + 1);
  count = std::max<std::int64_t>(1, std::min(count, rows));
  if (count == 1) return work(std::int64_t{0}, rows);
  const auto range = [&work, rows, count](std::int64_t t) {
    const Share share;
    work(rows * t / count, rows * (t + 1) / count);
  };
  std::vector<std::future<void>> others;
  for (std::int64_t t = 1; t < count; ++t) others.push_back(std::async(std::launch::async, range, t));
  range(0);
  for (auto& other : others) other.get();
}

/// Copies on the host: large blocks on several threads, small ones on the caller's, whose caches then hold
/// them. The blocks do not overlap.
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
