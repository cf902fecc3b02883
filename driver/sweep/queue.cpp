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
             int ranks)
    : trials_(trials), costs_(costs), registry_(registry), ranks_(ranks) {
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
  const Method* vendor = registry_.reference(t.problem, t.backend);
  return vendor != nullptr && vendor->variant == t.method;
}

std::optional<std::string> Queue::comparison_of(std::size_t index) const {
  const Trial& t = trials_[index];
  const Method* vendor = registry_.reference(t.problem, t.backend);
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

std::optional<std::size_t> Queue::longest(const Ordered& from, double most_seconds) const {
  const auto found = from.lower_bound({most_seconds, trials_.size()});
  if (found == from.end()) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> Queue::longest(const Pools& from, double most_seconds) const {
  std::optional<std::size_t> most;
  for (const Pool* pool : from) {
    const std::optional<std::size_t> found = longest(pool->by_cost, most_seconds);
    if (found && (!most || costs_[*found] > costs_[*most])) most = found;
  }
  return most;
}

bool Queue::is_elsewhere(std::size_t index, const std::string& held) const {
  const std::string& matrix = trials_[index].matrix.digest;
  return matrix != held && out_.count(matrix) > 0;
}

/// The trial with the matrix that is held, or whose matrix no other rank is at, unless the longest is much
/// longer and must not wait.
std::optional<std::size_t> Queue::chosen_of(const Round& round, const Pools& pools,
                                            const Request& request) const {
  const std::optional<std::size_t> longest_of_all = longest(pools, request.most_seconds);
  if (!longest_of_all) return std::nullopt;
  const double longest_cost = costs_[*longest_of_all];
  const bool can_wait = ranks_ == 1 || round.seconds() > longest_can_wait * ranks_ * longest_cost;
  const auto is_worth = [&](double times, double cost) { return can_wait || times * cost >= longest_cost; };
  const auto longest_in = [&](auto groups, const std::string& name,
                              double times) -> std::optional<std::size_t> {
    std::optional<std::size_t> most;
    for (const Pool* pool : pools) {
      const auto group = (pool->*groups).find(name);
      if (group == (pool->*groups).end()) continue;
      const std::optional<std::size_t> found = longest(group->second, request.most_seconds);
      if (found && is_worth(times, costs_[*found]) && (!most || costs_[*found] > costs_[*most])) most = found;
    }
    return most;
  };
  const auto longest_with = [&](const std::string& matrix) {
    return longest_in(&Pool::by_matrix, matrix, worth);
  };
  if (request.last && trials_[*request.last].matrix.digest == request.held) {
    const auto& comparison = comparisons_[*request.last];
    const auto mine =
        comparison ? longest_in(&Pool::compared, *comparison, worth_of_reference) : std::nullopt;
    if (mine) return mine;
  }
  if (const auto mine = longest_with(request.held)) return mine;
  if (!is_elsewhere(*longest_of_all, request.held)) return longest_of_all;
  std::optional<std::size_t> most;
  for (const Pool* pool : pools) {
    int looks = 0;
    for (const auto& [cost, index] : pool->heads) {
      if (!is_worth(worth, cost) || ++looks > most_looks || (most && cost <= costs_[*most])) break;
      if (is_elsewhere(index, request.held)) continue;
      const auto free = longest_with(trials_[index].matrix.digest);
      if (free && (!most || costs_[*free] > costs_[*most])) most = free;
      if (free) break;
    }
  }
  return most ? most : longest_of_all;
}

/// Of a round, by what the CPU of the rank's host is.
std::optional<std::size_t> Queue::chosen_of(const Round& round, const Request& request, HostCpu cpu) const {
  const auto any = [&] { return chosen_of(round, {&round.on_cpu, &round.others}, request); };
  if (cpu == HostCpu::own || round.on_cpu.by_cost.empty() || round.others.by_cost.empty()) return any();
  if (cpu == HostCpu::taken) {
    const auto other = chosen_of(round, {&round.others}, request);
    return other ? other : any();
  }
  const auto has_held = [&](const auto& trial) {
    return trial && trials_[*trial].matrix.digest == request.held;
  };
  const auto on_cpu = chosen_of(round, {&round.on_cpu}, request);
  if (has_held(on_cpu)) return on_cpu;
  const auto first = any();
  return on_cpu && !has_held(first) ? on_cpu : first;
}

std::optional<std::size_t> Queue::next(const std::string& held, double most_seconds,
                                       std::optional<std::size_t> last, HostCpu cpu) {
  for (auto& [number, round] : rounds_) {
    std::optional<std::size_t> chosen = chosen_of(round, {held, most_seconds, last}, cpu);
    if (!chosen) continue;
    if (const auto& comparison = comparisons_[*chosen]) {
      for (const Pool* pool : {&round.on_cpu, &round.others}) {
        const auto references = pool->references.find(*comparison);
        if (references == pool->references.end()) continue;
        if (const auto reference = longest(references->second, most_seconds)) chosen = reference;
      }
    }
    remove(*chosen);
    ++out_[trials_[*chosen].matrix.digest];
    return chosen;
  }
  return std::nullopt;
}

}  // namespace gaussweep::driver
