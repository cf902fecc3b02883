/// Chooses the order in which trials (one method on one matrix each) are assigned to ranks. Trials are
/// grouped so that a rank can reuse its matrix and its run of the vendor's method. This method is a library
/// routine, with which other methods are compared.

#include "driver/sweep/queue.hpp"

#include "driver/plan/trial.hpp"

namespace gaussweep::driver {
namespace {

// A round is a repetition of all trials. If its remaining work keeps all ranks busy for more than this
// multiple of the longest trial's time, the longest trial can start later. The other ranks then still have
// work until it ends.
constexpr double wait_factor = 4;
// Otherwise the longest trial goes first, with an exception for trials whose matrix the rank holds or no
// other rank uses. Such a trial may go first if the longest trial takes at most this multiple of its time.
// This saves the preparation of a matrix and the vendor's run, which cost about as much as a method's runs.
constexpr double max_ratio = 4;
// The same limit for a trial that is compared with a vendor's run on this rank. It is much higher, because
// on another rank the vendor's method would have to run again.
constexpr double max_ratio_with_reference = 64;
// Maximum number of matrices that are examined to find one that no other rank uses; limits the time of a
// request.
constexpr int max_searched = 64;

// A CPU trial of at least this many seconds slows down other CPU trials on its host (`takes_cpu`). It is also
// long enough that a rank may leave its current matrix for it and come back later.
constexpr double min_cpu_seconds = 0.05;

}  // namespace

Queue::Queue(const std::vector<Trial>& trials, const std::vector<double>& costs, const Registry& registry,
             int ranks, QueueOrder order)
    : trials_(trials), costs_(costs), ranks_(ranks), order_(order) {
  for (const Trial& trial : trials) {
    const Method* vendor = registry.reference(trial.problem, trial.backend, trial.shape.batch);
    comparisons_.push_back(vendor != nullptr ? comparison_identity(trial, *vendor) : std::string());
    is_reference_.push_back(vendor != nullptr && vendor->variant == trial.method);
  }
  for (std::size_t i = 0; i < trials.size(); ++i) insert(i);
}

void Queue::done(std::size_t index) {
  const auto found = assigned_.find(trials_[index].matrix.digest);
  if (found != assigned_.end() && --found->second == 0) assigned_.erase(found);
}

void Queue::put_back(std::size_t index) {
  done(index);
  insert(index);
}

void Queue::insert(std::size_t index) {
  Pool& pool = pool_of(rounds_[trials_[index].round], index);
  pool.by_cost.insert({costs_[index], index});
  pool.seconds += costs_[index];
  Ordered& group = pool.by_matrix[trials_[index].matrix.digest];
  if (!group.empty()) pool.heads.erase(*group.begin());
  group.insert({costs_[index], index});
  pool.heads.insert(*group.begin());
  if (const std::string& comparison = comparisons_[index]; !comparison.empty()) {
    Groups& comparable = is_reference_[index] ? pool.references : pool.compared;
    comparable[comparison].insert({costs_[index], index});
  }
  ++size_;
}

bool Queue::takes_cpu(std::size_t index) const {
  return trials_[index].backend == Backend::host && costs_[index] >= min_cpu_seconds;
}

void Queue::remove(std::size_t index) {
  const auto round = rounds_.find(trials_[index].round);
  Pool& pool = pool_of(round->second, index);
  pool.by_cost.erase({costs_[index], index});
  pool.seconds -= costs_[index];
  const auto group = pool.by_matrix.find(trials_[index].matrix.digest);
  pool.heads.erase(*group->second.begin());
  group->second.erase({costs_[index], index});
  if (group->second.empty()) {
    pool.by_matrix.erase(group);
  } else {
    pool.heads.insert(*group->second.begin());
  }
  if (const std::string& comparison = comparisons_[index]; !comparison.empty()) {
    auto& comparable = is_reference_[index] ? pool.references : pool.compared;
    const auto found = comparable.find(comparison);
    found->second.erase({costs_[index], index});
    if (found->second.empty()) comparable.erase(found);
  }
  if (round->second.empty()) rounds_.erase(round);
  --size_;
}

void Queue::reorder(const std::function<void()>& change_costs) {
  const auto left = std::move(rounds_);
  rounds_.clear();
  size_ = 0;
  change_costs();
  for (const auto& [number, round] : left) {
    for (const Pool* pool : {&round.others, &round.on_cpu}) {
      for (const auto& [cost, index] : pool->by_cost) insert(index);
    }
  }
}

double Queue::total() const {
  double seconds = 0;
  for (const auto& [number, round] : rounds_) seconds += round.seconds();
  return seconds;
}

std::optional<std::size_t> Queue::longer(std::optional<std::size_t> one,
                                         std::optional<std::size_t> other) const {
  if (!one || !other) return one ? one : other;
  return costs_[*other] > costs_[*one] ? other : one;
}

std::optional<std::size_t> Queue::longest(const Ordered& from, Range seconds) const {
  // The set is in descending order. With an index above all others, this finds the first cost <= seconds.max.
  const auto found = from.lower_bound({seconds.max, trials_.size()});
  if (found == from.end() || found->first < seconds.min) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> Queue::longest(const Pools& pools, Range seconds) const {
  std::optional<std::size_t> best;
  for (const Pool* pool : pools) best = longer(best, longest(pool->by_cost, seconds));
  return best;
}

std::optional<std::size_t> Queue::longest(const Pools& pools, Groups Pool::*groups, const std::string& name,
                                          Range seconds) const {
  std::optional<std::size_t> best;
  for (const Pool* pool : pools) {
    const auto group = (pool->*groups).find(name);
    if (group != (pool->*groups).end()) best = longer(best, longest(group->second, seconds));
  }
  return best;
}

std::optional<std::size_t> Queue::shortest(const Round& round, double max_seconds) const {
  std::optional<std::size_t> best;
  for (const Pool* pool : {&round.on_cpu, &round.others}) {
    if (pool->by_cost.empty()) continue;
    const auto& [cost, index] = *pool->by_cost.rbegin();
    if (cost <= max_seconds && (!best || cost < costs_[*best])) best = index;
  }
  return best;
}

bool Queue::is_used_elsewhere(std::size_t index, const std::string& held) const {
  const std::string& matrix = trials_[index].matrix.digest;
  return matrix != held && assigned_.count(matrix) > 0;
}

std::optional<std::size_t> Queue::longest_of_free_matrix(const Pools& pools, const std::string& held,
                                                         Range seconds) const {
  std::optional<std::size_t> best;
  for (const Pool* pool : pools) {
    int searched = 0;
    for (const auto& [cost, index] : pool->heads) {
      if (cost < seconds.min || ++searched > max_searched || (best && cost <= costs_[*best])) break;
      if (is_used_elsewhere(index, held)) continue;
      const auto found = longest(pools, &Pool::by_matrix, trials_[index].matrix.digest, seconds);
      best = longer(best, found);
      if (found) break;
    }
  }
  return best;
}

/// Prefers trials that are compared with the same vendor's run as the last trial. Next come trials with the
/// held matrix, then trials whose matrix no other rank uses, then the longest trial.
std::optional<std::size_t> Queue::choose(const Round& round, const Pools& pools,
                                         const Request& request) const {
  const double max_seconds = request.max_seconds;
  const std::optional<std::size_t> longest_of_all = longest(pools, {0, max_seconds});
  if (!longest_of_all) return std::nullopt;
  const double longest_seconds = costs_[*longest_of_all];
  const bool longest_can_wait = ranks_ == 1 || round.seconds() > wait_factor * ranks_ * longest_seconds;
  // Returns the range of costs of trials that may go before the longest one. It starts at 1/ratio of the
  // longest trial's cost, or at 0 if the longest trial can start later.
  const auto range_for = [&](double ratio) -> Range {
    return {longest_can_wait ? 0 : longest_seconds / ratio, max_seconds};
  };
  const std::string& held = request.held;
  if (request.last && trials_[*request.last].matrix.digest == held && !comparisons_[*request.last].empty()) {
    const auto compared =
        longest(pools, &Pool::compared, comparisons_[*request.last], range_for(max_ratio_with_reference));
    if (compared) return compared;
  }
  if (const auto with_held = longest(pools, &Pool::by_matrix, held, range_for(max_ratio))) return with_held;
  if (!is_used_elsewhere(*longest_of_all, held)) return longest_of_all;
  const auto with_free_matrix = longest_of_free_matrix(pools, held, range_for(max_ratio));
  return with_free_matrix ? with_free_matrix : longest_of_all;
}

/// If the host's CPU is taken, prefers trials that do not use it. If the CPU is free, prefers CPU trials, but
/// a trial with the held matrix precedes CPU trials with another matrix.
std::optional<std::size_t> Queue::choose(const Round& round, const Request& request, HostCpu cpu) const {
  const auto from_both = [&] { return choose(round, {&round.on_cpu, &round.others}, request); };
  if (cpu == HostCpu::unshared || round.on_cpu.by_cost.empty() || round.others.by_cost.empty())
    return from_both();
  if (cpu == HostCpu::taken) {
    const auto other = choose(round, {&round.others}, request);
    return other ? other : from_both();
  }
  const auto has_held = [&](const auto& trial) {
    return trial && trials_[*trial].matrix.digest == request.held;
  };
  const auto on_cpu = choose(round, {&round.on_cpu}, request);
  if (has_held(on_cpu)) return on_cpu;
  const auto first = from_both();
  return on_cpu && !has_held(first) ? on_cpu : first;
}

std::optional<std::size_t> Queue::next(const std::string& held, double max_seconds,
                                       std::optional<std::size_t> last, HostCpu cpu) {
  for (auto& [number, round] : rounds_) {
    const bool shortest_first = order_ == QueueOrder::shortest_first;
    std::optional<std::size_t> chosen =
        shortest_first ? shortest(round, max_seconds) : choose(round, {held, max_seconds, last}, cpu);
    if (!chosen) continue;
    if (const std::string& comparison = comparisons_[*chosen]; !comparison.empty() && !shortest_first) {
      const auto reference =
          longest({&round.on_cpu, &round.others}, &Pool::references, comparison, {0, max_seconds});
      if (reference) chosen = reference;
    }
    remove(*chosen);
    ++assigned_[trials_[*chosen].matrix.digest];
    return chosen;
  }
  return std::nullopt;
}

}  // namespace gaussweep::driver
