#pragma once
/// Splits a sequence into ranges at the least cost, by dynamic programming. learn.cpp splits sizes into
/// ranges that have one method each.

#include <limits>
#include <utility>
#include <vector>

namespace gaussweep::driver {

/// The cost of a split. Costs are compared first by their number of parts (ranges), then by their regret. The
/// regret is the sum of ln(time of the chosen method / least time) over the sizes.
struct SplitCost {
  // Marks a split that is not allowed. A quarter of INT_MAX, so that sums of such costs do not overflow.
  static constexpr int impossible = std::numeric_limits<int>::max() / 4;
  int parts = impossible;
  double regret = 0;
  bool is_possible() const { return parts < impossible; }
};
inline SplitCost operator+(const SplitCost& a, const SplitCost& b) {
  return {a.parts + b.parts, a.regret + b.regret};
}
inline bool operator<(const SplitCost& a, const SplitCost& b) {
  return std::pair(a.parts, a.regret) < std::pair(b.parts, b.regret);
}

/// The ranges of a split as inclusive pairs (first, last) of indices, and their total cost.
struct CheapestSplit {
  std::vector<std::pair<int, int>> ranges;
  SplitCost cost;
};

/// Returns the cheapest split of the indices 0 to count - 1.
/// @param cost_of (first, last) returns the cost of one range. For each `first` it is called with `last` =
/// first, first + 1, …, so that it can update running sums.
template <class CostOf>
CheapestSplit cheapest_split(int count, CostOf&& cost_of) {
  // best[i]: the least cost of a split of the first i indices; from[i]: the first index of its last range.
  std::vector<SplitCost> best(static_cast<std::size_t>(count) + 1);
  std::vector<int> from(best.size(), 0);
  best[0] = {0, 0};
  for (int first = 0; first < count; ++first) {
    for (int last = first; last < count; ++last) {
      const SplitCost range_cost = cost_of(first, last);
      if (!range_cost.is_possible()) break;  // a longer range is not possible either
      const SplitCost sum = best[first] + range_cost;
      if (best[first].is_possible() && sum < best[last + 1]) {
        best[last + 1] = sum;
        from[last + 1] = first;
      }
    }
  }
  CheapestSplit split;
  split.cost = best[count];
  if (!split.cost.is_possible()) return split;
  for (int end = count; end > 0; end = from[end]) split.ranges.emplace_back(from[end], end - 1);
  return {{split.ranges.rbegin(), split.ranges.rend()}, split.cost};
}

}  // namespace gaussweep::driver
