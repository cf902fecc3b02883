/// Learns a rule, which chooses a method for given sizes. Splits the lattice of sizes (a grid over batches,
/// right-hand sides and orders n, lattice.hpp) into as few boxes as possible. A box has one method, which is
/// about as fast as the fastest method at all sizes of the box.

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "driver/base/errors.hpp"
#include "driver/rule/cheapest_split.hpp"
#include "driver/rule/lattice.hpp"
#include "driver/rule/rule.hpp"

namespace gaussweep::driver {
namespace {

/// A set of methods, one bit each. Bit 63 is set at sizes where nothing was measured; there, "no method" is
/// the choice.
using Mask = std::uint64_t;
constexpr Mask not_measured = Mask{1} << 63;
constexpr std::size_t max_methods = 63;
constexpr int no_method = -1;
/// Two methods tie if their interquartile ranges overlap and their medians differ by at most this fraction.
/// The limit is needed because the ranges of noisy times overlap even if one method takes several times as
/// long.
constexpr double max_tie_regret = 0.1;
/// Two methods also tie if their graph replays take equally long (within the tolerance) and their medians
/// differ by at most this fraction. Replays have no launch overhead, so the difference is then the noise of
/// kernel launches.
constexpr double max_launch_noise = 0.3;

/// The methods that may be chosen at each order, for a range of batches and right-hand sides.
struct Candidates {
  std::vector<Mask> masks;  ///< by order
  /// By order and method: the log regret, ln(time / least time), summed over the sizes and layers of the
  /// range.
  std::vector<std::vector<double>> log_regrets;
  /// Extends the range by another range: keeps the methods that may be chosen in both ranges, and adds the
  /// log regrets.
  void add(const Candidates& more) {
    if (masks.empty()) {
      *this = more;
      return;
    }
    for (std::size_t i = 0; i < masks.size(); ++i) {
      masks[i] &= more.masks[i];
      for (std::size_t m = 0; m < log_regrets[i].size(); ++m) log_regrets[i][m] += more.log_regrets[i][m];
    }
  }
};

using Range = std::pair<int, int>;  ///< of indices, inclusive

/// A box of lattice indices with one method. `rhs` are the right-hand sides. The batches are split into
/// ranges first (`BatchBand`), each of these is split by right-hand sides (`RhsBand`), and each of those by
/// orders (`Leaf`).
struct Leaf {
  Range batches, rhs, orders;
  int method = no_method;
};
/// The leaves for a range of right-hand sides, one per range of orders.
struct RhsBand {
  Range rhs;
  std::vector<Leaf> leaves;
};
/// The bands of right-hand sides for a range of batches.
struct BatchBand {
  Range batches;
  std::vector<RhsBand> bands;
};

/// Finds boxes that hold for each of the given layers of the lattice. A layer has the times of one
/// combination of precision, triangle and matrix (MeasuredTimes::layers).
class Partition {
 public:
  Partition(const Lattice& lattice, std::vector<std::size_t> layers, double tolerance)
      : lattice_(&lattice), layers_(std::move(layers)), tolerance_(std::log1p(tolerance)) {
    const int batches = static_cast<int>(lattice.batches().size()),
              rhs = static_cast<int>(lattice.rhs_counts().size());
    candidates_.resize(batches);
    for (int b = 0; b < batches; ++b) {
      for (int r = 0; r < rhs; ++r) candidates_[b].push_back(candidates_at(b, r));
    }
    // The cost of a range of batches is that of its cheapest split by right-hand sides and orders.
    std::vector<Candidates> sum;  // by right-hand sides, summed over the batches `first` to `last`
    const CheapestSplit split = cheapest_split(batches, [&](int first, int last) {
      if (first == last) sum.assign(static_cast<std::size_t>(rhs), {});
      for (int r = 0; r < rhs; ++r) sum[r].add(candidates_[last][r]);
      return split_rhs(sum).cost;
    });
    cost_ = split.cost;
    for (const Range& range : split.ranges) bands_.push_back(batch_band(range));
  }
  const SplitCost& cost() const { return cost_; }
  const std::vector<std::size_t>& layers() const { return layers_; }
  std::vector<Box> boxes() const;

 private:
  /// Returns the methods that are within the tolerance of the fastest method, or tie with it, in every layer.
  /// @param b, r indices of a batch and of right-hand sides
  Candidates candidates_at(int b, int r) const;
  /// Splits the right-hand sides into ranges such that the ranges of orders in all of them are as few as
  /// possible.
  CheapestSplit split_rhs(const std::vector<Candidates>& by_rhs) const;
  /// Splits the orders into as few ranges as possible. Each range has a method that may be chosen at all of
  /// its orders.
  CheapestSplit split_orders(const Candidates& candidates) const;
  int choose(Mask mask, const std::vector<double>& log_regrets) const;
  /// Splits a range of batches by right-hand sides and orders, and chooses the methods.
  BatchBand batch_band(const Range& batches) const;
  bool is_known(int method, const Range& batches, const Range& rhs, const Range& orders) const;
  bool are_known(const std::vector<Leaf>& leaves, std::optional<int> batch,
                 std::optional<int> rhs_index) const;
  /// These functions return the sizes that the ranges of indices cover. Sizes between two ranges are divided
  /// among them.
  std::vector<SizeRange> batch_ranges() const;
  std::vector<SizeRange> rhs_ranges(const std::vector<RhsBand>& bands) const;
  std::vector<SizeRange> order_ranges(const std::vector<Leaf>& leaves) const;
  /// Returns the box of a leaf: its method, regret and alternatives. The ranges of sizes are not set.
  Box box_of(const Leaf& leaf) const;

  const Lattice* lattice_;
  std::vector<std::size_t> layers_;
  double tolerance_;                                 ///< largest log regret of a method that may be chosen
  std::vector<std::vector<Candidates>> candidates_;  ///< by batch and right-hand sides
  std::vector<BatchBand> bands_;
  SplitCost cost_;
};

Candidates Partition::candidates_at(int b, int r) const {
  const std::size_t methods = lattice_->methods();
  Candidates all;
  for (int n = 0; n < static_cast<int>(lattice_->orders().size()); ++n) {
    Mask mask = ~Mask{0};
    std::vector<double> log_regrets(methods, 0);
    for (const std::size_t layer : layers_) {
      const LogTime* best = nullptr;
      for (std::size_t m = 0; m < methods; ++m) {
        const LogTime& time = lattice_->at(layer, b, r, n, m);
        if (time.is_known() && (best == nullptr || time.median < best->median)) best = &time;
      }
      Mask layer_mask = best == nullptr ? not_measured : 0;
      for (std::size_t m = 0; m < methods && best != nullptr; ++m) {
        const LogTime& time = lattice_->at(layer, b, r, n, m);
        if (!time.is_known()) continue;
        const double regret = time.median - best->median;  // ln(time / least time)
        log_regrets[m] += regret;
        const bool is_tie = time.q1 < best->q3 && regret <= std::log1p(max_tie_regret);
        const bool is_launch_noise =
            std::fabs(time.replay - best->replay) <= tolerance_ && regret <= std::log1p(max_launch_noise);
        if (regret <= tolerance_ || is_tie || is_launch_noise) layer_mask |= Mask{1} << m;
      }
      mask &= layer_mask;
    }
    all.masks.push_back(mask);
    all.log_regrets.push_back(std::move(log_regrets));
  }
  return all;
}

/// Returns the vendor's method if it may be chosen, else the method with the least regret.
int Partition::choose(Mask mask, const std::vector<double>& log_regrets) const {
  int chosen = no_method;
  bool is_vendor = false;
  for (std::size_t m = 0; m < log_regrets.size(); ++m) {
    if ((mask >> m & 1) == 0) continue;
    const bool is_of_vendor = lattice_->measured().is_vendor[m];
    const bool is_better =
        chosen == no_method || (is_of_vendor && !is_vendor) ||
        (is_of_vendor == is_vendor && log_regrets[m] < log_regrets[static_cast<std::size_t>(chosen)]);
    if (!is_better) continue;
    chosen = static_cast<int>(m);
    is_vendor = is_of_vendor;
  }
  return chosen;
}

CheapestSplit Partition::split_orders(const Candidates& candidates) const {
  Mask mask = 0;
  std::vector<double> log_regrets;
  return cheapest_split(static_cast<int>(candidates.masks.size()), [&](int first, int last) -> SplitCost {
    if (first == last) {
      mask = ~Mask{0};
      log_regrets.assign(lattice_->methods(), 0);
    }
    mask &= candidates.masks[last];
    if (mask == 0) return {};  // SplitCost::impossible: no method may be chosen at all of these orders
    for (std::size_t m = 0; m < log_regrets.size(); ++m) log_regrets[m] += candidates.log_regrets[last][m];
    const int method = choose(mask, log_regrets);
    return {1, method == no_method ? 0 : log_regrets[static_cast<std::size_t>(method)]};
  });
}

CheapestSplit Partition::split_rhs(const std::vector<Candidates>& by_rhs) const {
  Candidates sum;
  return cheapest_split(static_cast<int>(by_rhs.size()), [&](int first, int last) {
    if (first == last) sum = {};
    sum.add(by_rhs[last]);
    return split_orders(sum).cost;
  });
}

BatchBand Partition::batch_band(const Range& batches) const {
  std::vector<Candidates> by_rhs(lattice_->rhs_counts().size());  // summed over the batches
  for (int b = batches.first; b <= batches.second; ++b) {
    for (std::size_t r = 0; r < by_rhs.size(); ++r) by_rhs[r].add(candidates_[b][r]);
  }
  BatchBand band{batches, {}};
  for (const Range& rhs : split_rhs(by_rhs).ranges) {
    Candidates sum;
    for (int r = rhs.first; r <= rhs.second; ++r) sum.add(by_rhs[r]);
    RhsBand inner{rhs, {}};
    for (const Range& orders : split_orders(sum).ranges) {
      Mask mask = ~Mask{0};
      std::vector<double> log_regrets(lattice_->methods(), 0);
      for (int n = orders.first; n <= orders.second; ++n) {
        mask &= sum.masks[n];
        for (std::size_t m = 0; m < log_regrets.size(); ++m) log_regrets[m] += sum.log_regrets[n][m];
      }
      inner.leaves.push_back({batches, rhs, orders, choose(mask, log_regrets)});
    }
    band.bands.push_back(std::move(inner));
  }
  return band;
}

/// Returns true if the method's time is known at all of these sizes, in all layers.
bool Partition::is_known(int method, const Range& batches, const Range& rhs, const Range& orders) const {
  if (method == no_method) return false;
  for (const std::size_t layer : layers_) {
    for (int b = batches.first; b <= batches.second; ++b) {
      for (int r = rhs.first; r <= rhs.second; ++r) {
        for (int n = orders.first; n <= orders.second; ++n) {
          if (!lattice_->at(layer, b, r, n, static_cast<std::size_t>(method)).is_known()) return false;
        }
      }
    }
  }
  return true;
}

/// Returns the geometric middle of two sizes, at least `low` and below `high`.
std::int64_t middle(std::int64_t low, std::int64_t high) {
  const double root = std::sqrt(static_cast<double>(low) * static_cast<double>(high));
  return std::clamp(static_cast<std::int64_t>(root), low, high - 1);
}

/// Ends of two neighbouring ranges: the last size of the left one and the first size of the right one.
struct Ends {
  std::int64_t left, right;
};

/// Divides the sizes between `low` and `high` among two neighbouring ranges. If only one range may be
/// extended, it gets all of these sizes. If neither may, both ends stay, and the rule has no choice between
/// them.
/// @param low, high the last measured size of the left range, and the first of the right one
/// @param left_known true if the left range may be extended: the times of its methods are known at `high`
/// @param right_known true if the times of the right range's methods are known at `low`
/// @param cut the last size of the left range if the times are known for both ranges
Ends ends_between(std::int64_t low, std::int64_t high, bool left_known, bool right_known, std::int64_t cut) {
  if (left_known && right_known) return {cut, cut + 1};
  return {left_known ? high - 1 : low, right_known ? low + 1 : high};
}

/// Returns the largest order at which the method of `left` is expected to be faster. This order is between
/// the last order of `left` and the first order of `right`.
std::int64_t crossing(const Lattice& lattice, const std::vector<std::size_t>& layers, const Leaf& left,
                      const Leaf& right) {
  const int low = left.orders.second, high = right.orders.first;
  double before = 0, after = 0;  // sums of ln(left time / right time) at `low` and at `high`
  for (const std::size_t layer : layers) {
    for (int b = left.batches.first; b <= left.batches.second; ++b) {
      for (int r = left.rhs.first; r <= left.rhs.second; ++r) {
        const auto ratio = [&](int n) {
          return lattice.at(layer, b, r, n, static_cast<std::size_t>(left.method)).median -
                 lattice.at(layer, b, r, n, static_cast<std::size_t>(right.method)).median;
        };
        before += ratio(low);
        after += ratio(high);
      }
    }
  }
  const std::int64_t first = lattice.orders()[low], last = lattice.orders()[high];
  if (!(before < 0 && after > 0)) return middle(first, last);
  const auto coordinate = [&](std::int64_t n) {
    TaskSizes sizes = lattice.sizes(left.batches.first, left.rhs.first, low);
    sizes.n = n;
    return lattice.measured().coordinate(layers.front(), sizes);
  };
  // ln(left time / right time) is interpolated linearly over the coordinate; `target` is where it is 0. The
  // bisection below finds the largest order that is not beyond the target.
  const double start = coordinate(first);
  const double target = start + before / (before - after) * (coordinate(last) - start);
  std::int64_t below = first, above = last;
  while (above - below > 1) {
    const std::int64_t between = below + (above - below) / 2;
    if (coordinate(between) <= target) {
      below = between;
    } else {
      above = between;
    }
  }
  return below;
}

Box Partition::box_of(const Leaf& leaf) const {
  const MeasuredTimes& measured = lattice_->measured();
  const auto chosen = static_cast<std::size_t>(leaf.method);
  Box box;
  box.choice = measured.methods[chosen];
  std::vector<std::optional<Alternative>> alternatives(lattice_->methods());
  for (std::size_t m = 0; m < alternatives.size(); ++m) {
    if (m != chosen && is_known(static_cast<int>(m), leaf.batches, leaf.rhs, leaf.orders))
      alternatives[m] = Alternative{measured.methods[m], /*least=*/HUGE_VAL, /*most=*/0};
  }
  double sum = 0;
  const auto add_task = [&](const std::vector<double>& seconds) {
    if (std::isnan(seconds[chosen])) return;
    double least = seconds[chosen];
    for (std::size_t m = 0; m < alternatives.size(); ++m) {
      if (std::isnan(seconds[m])) continue;
      least = std::min(least, seconds[m]);
      if (!alternatives[m]) continue;
      alternatives[m]->least = std::min(alternatives[m]->least, seconds[m] / seconds[chosen]);
      alternatives[m]->most = std::max(alternatives[m]->most, seconds[m] / seconds[chosen]);
    }
    const double regret = seconds[chosen] / least - 1;
    sum += regret;
    box.worst = std::max(box.worst, regret);
    ++box.measured_tasks;
  };
  for (const std::size_t layer : layers_) {
    for (int b = leaf.batches.first; b <= leaf.batches.second; ++b) {
      for (int r = leaf.rhs.first; r <= leaf.rhs.second; ++r) {
        for (int n = leaf.orders.first; n <= leaf.orders.second; ++n) {
          const auto found = measured.tasks[layer].find(lattice_->sizes(b, r, n));
          if (found == measured.tasks[layer].end()) continue;  // no task was measured at this size
          for (const auto& [task, seconds] : found->second) add_task(seconds);
        }
      }
    }
  }
  if (box.measured_tasks > 0) box.mean = sum / static_cast<double>(box.measured_tasks);
  for (std::optional<Alternative>& other : alternatives) {
    if (other && other->most > 0) box.alternatives.push_back(std::move(*other));
  }
  return box;
}

/// Converts `count` neighbouring ranges of indices to ranges of sizes. The sizes between two neighbours,
/// which are not in `sizes`, are divided among both.
/// @param range_of (i) returns range i, as indices into `sizes`
/// @param ends_of (i) returns the last size of range i and the first size of range i + 1
template <class RangeOf, class EndsOf>
std::vector<SizeRange> size_ranges(std::size_t count, const std::vector<std::int64_t>& sizes,
                                   RangeOf&& range_of, EndsOf&& ends_of) {
  std::vector<SizeRange> ranges;
  for (std::size_t i = 0; i < count; ++i)
    ranges.push_back({sizes[range_of(i).first], sizes[range_of(i).second]});
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const Ends ends = ends_of(i);
    ranges[i].to = ends.left;
    ranges[i + 1].from = ends.right;
  }
  return ranges;
}

/// Returns true if the times of all leaves' methods are also known outside the leaves: at another batch or
/// another number of right-hand sides, with the orders of the leaf.
/// @param batch, rhs_index index on the lattice's axis; nothing: the leaf's own range
bool Partition::are_known(const std::vector<Leaf>& leaves, std::optional<int> batch,
                          std::optional<int> rhs_index) const {
  return std::all_of(leaves.begin(), leaves.end(), [&](const Leaf& leaf) {
    return leaf.method == no_method ||
           is_known(leaf.method, batch ? Range{*batch, *batch} : leaf.batches,
                    rhs_index ? Range{*rhs_index, *rhs_index} : leaf.rhs, leaf.orders);
  });
}

std::vector<SizeRange> Partition::batch_ranges() const {
  const auto leaves_of = [](const BatchBand& band) {
    std::vector<Leaf> leaves;
    for (const RhsBand& inner : band.bands)
      leaves.insert(leaves.end(), inner.leaves.begin(), inner.leaves.end());
    return leaves;
  };
  const std::vector<std::int64_t>& sizes = lattice_->batches();
  return size_ranges(
      bands_.size(), sizes, [&](std::size_t i) { return bands_[i].batches; },
      [&](std::size_t i) {
        const int low = bands_[i].batches.second, high = bands_[i + 1].batches.first;
        return ends_between(sizes[low], sizes[high], are_known(leaves_of(bands_[i]), high, /*rhs_index=*/{}),
                            are_known(leaves_of(bands_[i + 1]), low, /*rhs_index=*/{}),
                            middle(sizes[low], sizes[high]));
      });
}

std::vector<SizeRange> Partition::rhs_ranges(const std::vector<RhsBand>& bands) const {
  const std::vector<std::int64_t>& sizes = lattice_->rhs_counts();
  return size_ranges(
      bands.size(), sizes, [&](std::size_t i) { return bands[i].rhs; },
      [&](std::size_t i) {
        const int low = bands[i].rhs.second, high = bands[i + 1].rhs.first;
        return ends_between(sizes[low], sizes[high], are_known(bands[i].leaves, /*batch=*/{}, high),
                            are_known(bands[i + 1].leaves, /*batch=*/{}, low),
                            middle(sizes[low], sizes[high]));
      });
}

std::vector<SizeRange> Partition::order_ranges(const std::vector<Leaf>& leaves) const {
  const std::vector<std::int64_t>& sizes = lattice_->orders();
  return size_ranges(
      leaves.size(), sizes, [&](std::size_t i) { return leaves[i].orders; },
      [&](std::size_t i) {
        const Leaf &left = leaves[i], &right = leaves[i + 1];
        const int low = left.orders.second, high = right.orders.first;
        const bool left_known = is_known(left.method, left.batches, left.rhs, {high, high});
        const bool right_known = is_known(right.method, right.batches, right.rhs, {low, low});
        const std::int64_t cut =
            left_known && right_known ? crossing(*lattice_, layers_, left, right) : sizes[low];
        return ends_between(sizes[low], sizes[high], left_known, right_known, cut);
      });
}

std::vector<Box> Partition::boxes() const {
  const bool has_rhs_axis = lattice_->measured().problem->has_axis("nrhs");
  const std::vector<SizeRange> batches = batch_ranges();
  std::vector<Box> result;
  for (std::size_t b = 0; b < bands_.size(); ++b) {
    const std::vector<RhsBand>& bands = bands_[b].bands;
    const std::vector<SizeRange> rhs = rhs_ranges(bands);
    for (std::size_t r = 0; r < bands.size(); ++r) {
      const std::vector<Leaf>& leaves = bands[r].leaves;
      const std::vector<SizeRange> orders = order_ranges(leaves);
      for (std::size_t n = 0; n < leaves.size(); ++n) {
        if (leaves[n].method == no_method) continue;
        Box& box = result.emplace_back(box_of(leaves[n]));
        box.batch = batches[b];
        box.nrhs = has_rhs_axis ? rhs[r] : any_size;
        box.n = orders[n];
      }
    }
  }
  return result;
}

/// Returns the parts of a problem on a device. A greedy search merges the layers (combinations of precision,
/// triangle and matrix): each layer joins the first part for which the rule then has fewer boxes.
std::vector<RulePart> parts_of(const MeasuredTimes& measured, double tolerance) {
  if (measured.methods.size() > max_methods)
    throw UsageError(
        fmt::format("{} on {}: {} methods with their parameters; at most {} are allowed: --methods "
                    "selects some",
                    measured.problem->name, measured.device, measured.methods.size(), max_methods));
  const Lattice lattice(measured);
  std::vector<Partition> parts;
  for (std::size_t layer = 0; layer < measured.layers.size(); ++layer) {
    Partition separate(lattice, {layer}, tolerance);
    bool is_shared = false;
    for (Partition& part : parts) {
      std::vector<std::size_t> layers = part.layers();
      layers.push_back(layer);
      Partition shared(lattice, std::move(layers), tolerance);
      if (!(shared.cost().parts < part.cost().parts + separate.cost().parts)) continue;
      part = std::move(shared);
      is_shared = true;
      break;
    }
    if (!is_shared) parts.push_back(std::move(separate));
  }
  std::vector<RulePart> result;
  for (const Partition& part : parts) {
    RulePart made{measured.problem->name, measured.device, {}, part.boxes()};
    for (const std::size_t layer : part.layers()) made.names.push_back(measured.layers[layer]);
    if (!made.boxes.empty()) result.push_back(std::move(made));
  }
  return result;
}

}  // namespace

Rule learn_rule(const io::Results& results, double tolerance) {
  Rule rule;
  for (const MeasuredTimes& measured : measured_times(results)) {
    for (RulePart& part : parts_of(measured, tolerance)) rule.parts.push_back(std::move(part));
  }
  if (rule.parts.empty())
    throw UsageError("no trial with square operands passed, so there is nothing to learn a rule from");
  return rule;
}

}  // namespace gaussweep::driver
