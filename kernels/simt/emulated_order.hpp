#pragma once
/// The order in which the threads of an emulated block run.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace gaussweep::emulated::simt::detail {

/// Orders the threads of each round (see emulated_scheduler.cpp): in index order, reversed, or shuffled.
class ThreadOrder {
 public:
  static ThreadOrder reversed() { return ThreadOrder(/*seed=*/0, /*is_reversed=*/true); }
  /// @param seed 0: index order
  static ThreadOrder shuffled(std::uint64_t seed) { return ThreadOrder(seed, /*is_reversed=*/false); }

  void operator()(std::vector<unsigned>& round) {
    if (is_reversed_) std::sort(round.begin(), round.end(), std::greater<>());
    for (std::size_t remaining = is_shuffled_ ? round.size() : 0; remaining > 1; --remaining) {
      std::swap(
          round[remaining - 1],
          round[(static_cast<std::uint32_t>(next_random()) * static_cast<std::uint64_t>(remaining)) >> 32]);
    }
  }

 private:
  ThreadOrder(std::uint64_t seed, bool is_reversed)
      : state_(seed), is_shuffled_(seed != 0), is_reversed_(is_reversed) {}
  /// Returns the next number of splitmix64. The orders only have to differ; their statistical quality does
  /// not matter.
  std::uint64_t next_random() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
  bool is_shuffled_, is_reversed_;
};

}  // namespace gaussweep::emulated::simt::detail
