#include "driver/sweep/queue.hpp"

#include <fmt/format.h>

namespace gaussweep::driver {

Queue::Queue(const std::vector<Trial>& trials, const std::vector<double>& costs, const Registry& registry)
    : trials_(trials), costs_(costs), registry_(registry) {
  for (std::size_t i = 0; i < trials.size(); ++i) put_back(i);
}

void Queue::put_back(std::size_t index) {
  Round& round = rounds_[trials_[index].round];
  round.by_cost.insert({costs_[index], index});
  round.by_matrix[trials_[index].matrix.digest].insert({costs_[index], index});
  if (const auto compared = comparison_of(index, true))
    round.references[*compared].insert({costs_[index], index});
  ++size_;
}

/// Equal for trials that one run of the vendor's method serves, as their worker measures it
/// (worker/execute.cpp).
/// @param as_reference of the vendor's own trials alone
std::optional<std::string> Queue::comparison_of(std::size_t index, bool as_reference) const {
  const Trial& t = trials_[index];
  const Method* vendor = registry_.reference(t.problem, t.backend);
  if (vendor == nullptr || as_reference != (vendor->variant == t.method)) return std::nullopt;
  return fmt::format("{} {} {} {} {} {} {}", t.matrix.digest, t.matrix_b ? t.matrix_b->digest : "",
                     vendor->id(), to_string(t.precision), to_string(t.shape.uplo), t.shape.nrhs,
                     t.sampling.cold);
}

void Queue::remove(std::size_t index) {
  const auto round = rounds_.find(trials_[index].round);
  round->second.by_cost.erase({costs_[index], index});
  const auto group = round->second.by_matrix.find(trials_[index].matrix.digest);
  group->second.erase({costs_[index], index});
  if (group->second.empty()) round->second.by_matrix.erase(group);
  if (const auto compared = comparison_of(index, true)) {
    const auto references = round->second.references.find(*compared);
    references->second.erase({costs_[index], index});
    if (references->second.empty()) round->second.references.erase(references);
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
    for (const auto& [cost, index] : round.by_cost) put_back(index);
  }
}

double Queue::total() const {
  double seconds = 0;
  for (const auto& [number, round] : rounds_) {
    for (const auto& [cost, index] : round.by_cost) seconds += cost;
  }
  return seconds;
}

std::optional<std::size_t> Queue::longest(const Ordered& from, double most_seconds) const {
  const auto found = from.lower_bound({most_seconds, trials_.size()});
  if (found == from.end()) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> Queue::next(const std::string& held, double most_seconds) {
  for (const auto& [number, round] : rounds_) {
    std::optional<std::size_t> chosen = longest(round.by_cost, most_seconds);
    if (!chosen) continue;
    const auto group = round.by_matrix.find(held);
    if (group != round.by_matrix.end()) {
      const std::optional<std::size_t> mine = longest(group->second, most_seconds);
      if (mine && 4 * costs_[*mine] >= costs_[*chosen]) chosen = mine;
    }
    if (const auto compared = comparison_of(*chosen, false)) {
      const auto references = round.references.find(*compared);
      const auto reference =
          references == round.references.end() ? std::nullopt : longest(references->second, most_seconds);
      if (reference) chosen = reference;
    }
    remove(*chosen);
    return chosen;
  }
  return std::nullopt;
}

}  // namespace gaussweep::driver
