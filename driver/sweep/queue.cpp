#include "driver/sweep/queue.hpp"

#include "driver/plan/shared_inputs.hpp"

namespace gaussweep::driver {
namespace {

// As long as the rest keeps all ranks busy for so many times the longest trial, that one can wait: no rank
// will wait for its end.
constexpr double longest_can_wait = 4;
// Else a trial is preferred to one that is at most so many times as long: reading or making a matrix, and
// the vendor's run on it, cost about as much as a method's runs.
constexpr double worth = 4;
// What the vendor's run, which is there, serves too is preferred to almost anything: else it is made once
// more.
constexpr double worth_of_reference = 64;
// Matrices that are looked at for one that no other rank is at: in vain where there are more ranks than
// those.
constexpr int most_looks = 64;

// Seconds of a trial on the CPU from which on it is worth while to leave its matrix, and to come back to it.
constexpr double worth_leaving = 0.05;

}  // namespace

Queue::Queue(const std::vector<Trial>& trials, const std::vector<double>& costs, const Registry& registry,
             int ranks, QueueOrder order)
    : trials_(trials), costs_(costs), registry_(registry), ranks_(ranks), order_(order) {
  comparisons_.reserve(trials.size());
  for (std::size_t i = 0; i < trials.size(); ++i) comparisons_.push_back(comparison_of(i));
  for (std::size_t i = 0; i < trials.size(); ++i) insert(i);
}

void Queue::done(std::size_t index) {
  const auto found = out_.find(trials_[index].matrix.digest);
  if (found != out_.end() && --found->second == 0) out_.erase(found);
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
  if (const auto& comparison = comparisons_[index])
    (is_reference(index) ? pool.references : pool.compared)[*comparison].insert({costs_[index], index});
  ++size_;
}

bool Queue::takes_cpu(std::size_t index) const {
  return trials_[index].backend == Backend::host && costs_[index] >= worth_leaving;
}

bool Queue::is_reference(std::size_t index) const {
  const Trial& t = trials_[index];
  const Method* vendor = registry_.reference(t.problem, t.backend, t.shape.batch);
  return vendor != nullptr && vendor->variant == t.method;
}

std::optional<std::string> Queue::comparison_of(std::size_t index) const {
  const Trial& t = trials_[index];
  const Method* vendor = registry_.reference(t.problem, t.backend, t.shape.batch);
  if (vendor == nullptr) return std::nullopt;
  return comparison_identity(t, *vendor);
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
  if (const auto& comparison = comparisons_[index]) {
    auto& alike = is_reference(index) ? pool.references : pool.compared;
    const auto those = alike.find(*comparison);
    those->second.erase({costs_[index], index});
    if (those->second.empty()) alike.erase(those);
  }
  if (round->second.empty()) rounds_.erase(round);
  --size_;
}

void Queue::after(const std::function<void()>& change) {
  const auto left = std::move(rounds_);
  rounds_.clear();
  size_ = 0;
  change();
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
  const auto found = from.lower_bound({seconds.most, trials_.size()});
  if (found == from.end() || found->first < seconds.least) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> Queue::longest(const Pools& pools, Range seconds) const {
  std::optional<std::size_t> most;
  for (const Pool* pool : pools) most = longer(most, longest(pool->by_cost, seconds));
  return most;
}

std::optional<std::size_t> Queue::longest(const Pools& pools, Groups Pool::*groups, const std::string& name,
                                          Range seconds) const {
  std::optional<std::size_t> most;
  for (const Pool* pool : pools) {
    const auto group = (pool->*groups).find(name);
    if (group != (pool->*groups).end()) most = longer(most, longest(group->second, seconds));
  }
  return most;
}

std::optional<std::size_t> Queue::shortest(const Round& round, double most_seconds) const {
  std::optional<std::size_t> least;
  for (const Pool* pool : {&round.on_cpu, &round.others}) {
    if (pool->by_cost.empty()) continue;
    const auto& [cost, index] = *pool->by_cost.rbegin();
    if (cost <= most_seconds && (!least || cost < costs_[*least])) least = index;
  }
  return least;
}

bool Queue::is_elsewhere(std::size_t index, const std::string& held) const {
  const std::string& matrix = trials_[index].matrix.digest;
  return matrix != held && out_.count(matrix) > 0;
}

std::optional<std::size_t> Queue::longest_of_free_matrix(const Pools& pools, const std::string& held,
                                                         Range seconds) const {
  std::optional<std::size_t> most;
  for (const Pool* pool : pools) {
    int looks = 0;
    for (const auto& [cost, index] : pool->heads) {
      if (cost < seconds.least || ++looks > most_looks || (most && cost <= costs_[*most])) break;
      if (is_elsewhere(index, held)) continue;
      const auto found = longest(pools, &Pool::by_matrix, trials_[index].matrix.digest, seconds);
      most = longer(most, found);
      if (found) break;
    }
  }
  return most;
}

/// In this order: what is compared with the last trial, what has the matrix that is held, what has a matrix
/// that no other rank is at, the longest.
std::optional<std::size_t> Queue::choose(const Round& round, const Pools& pools,
                                         const Request& request) const {
  const double most = request.most_seconds;
  const std::optional<std::size_t> longest_of_all = longest(pools, {0, most});
  if (!longest_of_all) return std::nullopt;
  const double longest_seconds = costs_[*longest_of_all];
  const bool can_wait = ranks_ == 1 || round.seconds() > longest_can_wait * ranks_ * longest_seconds;
  /// What goes before the longest although it is up to so many times shorter.
  const auto worth_at_least = [&](double times) -> Range {
    return {can_wait ? 0 : longest_seconds / times, most};
  };
  const std::string& held = request.held;
  if (request.last && trials_[*request.last].matrix.digest == held && comparisons_[*request.last]) {
    const auto compared =
        longest(pools, &Pool::compared, *comparisons_[*request.last], worth_at_least(worth_of_reference));
    if (compared) return compared;
  }
  if (const auto mine = longest(pools, &Pool::by_matrix, held, worth_at_least(worth))) return mine;
  if (!is_elsewhere(*longest_of_all, held)) return longest_of_all;
  const auto free = longest_of_free_matrix(pools, held, worth_at_least(worth));
  return free ? free : longest_of_all;
}

/// By what the CPU of the rank's host is: taken, it is left to the rank that has it, if there is anything
/// else; free, it comes first, unless the rank would leave its matrix for it.
std::optional<std::size_t> Queue::choose(const Round& round, const Request& request, HostCpu cpu) const {
  const auto any = [&] { return choose(round, {&round.on_cpu, &round.others}, request); };
  if (cpu == HostCpu::own || round.on_cpu.by_cost.empty() || round.others.by_cost.empty()) return any();
  if (cpu == HostCpu::taken) {
    const auto other = choose(round, {&round.others}, request);
    return other ? other : any();
  }
  const auto has_held = [&](const auto& trial) {
    return trial && trials_[*trial].matrix.digest == request.held;
  };
  const auto on_cpu = choose(round, {&round.on_cpu}, request);
  if (has_held(on_cpu)) return on_cpu;
  const auto first = any();
  return on_cpu && !has_held(first) ? on_cpu : first;
}

std::optional<std::size_t> Queue::next(const std::string& held, double most_seconds,
                                       std::optional<std::size_t> last, HostCpu cpu) {
  for (auto& [number, round] : rounds_) {
    const bool shortest_first = order_ == QueueOrder::shortest_first;
    std::optional<std::size_t> chosen =
        shortest_first ? shortest(round, most_seconds) : choose(round, {held, most_seconds, last}, cpu);
    if (!chosen) continue;
    if (const auto& comparison = comparisons_[*chosen]; comparison && !shortest_first) {
      const auto reference =
          longest({&round.on_cpu, &round.others}, &Pool::references, *comparison, {0, most_seconds});
      if (reference) chosen = reference;
    }
    remove(*chosen);
    ++out_[trials_[*chosen].matrix.digest];
    return chosen;
  }
  return std::nullopt;
}

}  // namespace gaussweep::driver
