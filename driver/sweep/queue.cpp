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
  Round& round = rounds_[trials_[index].round];
  round.by_cost.insert({costs_[index], index});
  round.seconds += costs_[index];
  Ordered& group = round.by_matrix[trials_[index].matrix.digest];
  if (!group.empty()) round.heads.erase(*group.begin());
  group.insert({costs_[index], index});
  round.heads.insert(*group.begin());
  if (const auto& comparison = comparisons_[index])
    (is_reference(index) ? round.references : round.compared)[*comparison].insert({costs_[index], index});
  ++size_;
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
  round->second.by_cost.erase({costs_[index], index});
  round->second.seconds -= costs_[index];
  const auto group = round->second.by_matrix.find(trials_[index].matrix.digest);
  round->second.heads.erase(*group->second.begin());
  group->second.erase({costs_[index], index});
  if (group->second.empty()) {
    round->second.by_matrix.erase(group);
  } else {
    round->second.heads.insert(*group->second.begin());
  }
  if (const auto& comparison = comparisons_[index]) {
    auto& alike = is_reference(index) ? round->second.references : round->second.compared;
    const auto those = alike.find(*comparison);
    those->second.erase({costs_[index], index});
    if (those->second.empty()) alike.erase(those);
  }
  if (round->second.by_cost.empty()) rounds_.erase(round);
  --size_;
}

void Queue::after(const std::function<void()>& change) {
  const auto left = std::move(rounds_);
  rounds_.clear();
  size_ = 0;
  change();
  for (const auto& [number, round] : left) {
    for (const auto& [cost, index] : round.by_cost) insert(index);
  }
}

double Queue::total() const {
  double seconds = 0;
  for (const auto& [number, round] : rounds_) seconds += round.seconds;
  return seconds;
}

std::optional<std::size_t> Queue::longest(const Ordered& from, double most_seconds) const {
  const auto found = from.lower_bound({most_seconds, trials_.size()});
  if (found == from.end()) return std::nullopt;
  return found->second;
}

/// The trial with the matrix that is held, or whose matrix no other rank is at, unless the longest is much
/// longer and must not wait.
std::size_t Queue::chosen_of(const Round& round, std::size_t longest_of_all, const std::string& held,
                             double most_seconds, std::optional<std::size_t> last) const {
  const double longest_cost = costs_[longest_of_all];
  const bool can_wait = ranks_ == 1 || round.seconds > longest_can_wait * ranks_ * longest_cost;
  const auto is_worth = [&](double times, double cost) { return can_wait || times * cost >= longest_cost; };
  const auto longest_in = [&](const auto& groups, const std::string& name,
                              double times) -> std::optional<std::size_t> {
    const auto group = groups.find(name);
    if (group == groups.end()) return std::nullopt;
    const std::optional<std::size_t> found = longest(group->second, most_seconds);
    return found && is_worth(times, costs_[*found]) ? found : std::nullopt;
  };
  const auto longest_with = [&](const std::string& matrix) {
    return longest_in(round.by_matrix, matrix, worth);
  };
  const auto is_elsewhere = [&](std::size_t index) {
    const std::string& matrix = trials_[index].matrix.digest;
    return matrix != held && out_.count(matrix) > 0;
  };
  if (last && trials_[*last].matrix.digest == held) {
    const auto& comparison = comparisons_[*last];
    const auto mine = comparison ? longest_in(round.compared, *comparison, worth_of_reference) : std::nullopt;
    if (mine) return *mine;
  }
  if (const auto mine = longest_with(held)) return *mine;
  if (!is_elsewhere(longest_of_all)) return longest_of_all;
  int looks = 0;
  for (const auto& [cost, index] : round.heads) {
    if (!is_worth(worth, cost) || ++looks > most_looks) break;
    if (is_elsewhere(index)) continue;
    if (const auto free = longest_with(trials_[index].matrix.digest)) return *free;
  }
  return longest_of_all;
}

std::optional<std::size_t> Queue::next(const std::string& held, double most_seconds,
                                       std::optional<std::size_t> last) {
  for (const auto& [number, round] : rounds_) {
    const std::optional<std::size_t> first = longest(round.by_cost, most_seconds);
    if (!first) continue;
    std::size_t chosen = chosen_of(round, *first, held, most_seconds, last);
    if (const auto& comparison = comparisons_[chosen]) {
      const auto references = round.references.find(*comparison);
      const auto reference =
          references == round.references.end() ? std::nullopt : longest(references->second, most_seconds);
      if (reference) chosen = *reference;
    }
    remove(chosen);
    ++out_[trials_[chosen].matrix.digest];
    return chosen;
  }
  return std::nullopt;
}

}  // namespace gaussweep::driver
