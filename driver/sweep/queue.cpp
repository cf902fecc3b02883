#include "driver/sweep/queue.hpp"

namespace gaussweep::driver {

Queue::Queue(const std::vector<Trial>& trials, const std::vector<double>& costs)
    : trials_(trials), costs_(costs) {
  for (std::size_t i = 0; i < trials.size(); ++i) put_back(i);
}

void Queue::put_back(std::size_t index) {
  by_cost_.insert({costs_[index], index});
  by_matrix_[trials_[index].matrix.digest].insert({costs_[index], index});
}

void Queue::remove(std::size_t index) {
  by_cost_.erase({costs_[index], index});
  const auto group = by_matrix_.find(trials_[index].matrix.digest);
  group->second.erase({costs_[index], index});
  if (group->second.empty()) by_matrix_.erase(group);
}

void Queue::after(const std::function<void()>& change) {
  const Ordered left = std::move(by_cost_);
  by_cost_.clear();
  by_matrix_.clear();
  change();
  for (const auto& [cost, index] : left) put_back(index);
}

double Queue::total() const {
  double seconds = 0;
  for (const auto& [cost, index] : by_cost_) seconds += cost;
  return seconds;
}

std::optional<std::size_t> Queue::longest(const Ordered& from, double most_seconds) const {
  const auto found = from.lower_bound({most_seconds, trials_.size()});
  if (found == from.end()) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> Queue::next(const std::string& held, double most_seconds) {
  std::optional<std::size_t> chosen = longest(by_cost_, most_seconds);
  if (!chosen) return std::nullopt;
  const auto group = by_matrix_.find(held);
  if (group != by_matrix_.end()) {
    const std::optional<std::size_t> mine = longest(group->second, most_seconds);
    if (mine && 4 * costs_[*mine] >= costs_[*chosen]) chosen = mine;
  }
  remove(*chosen);
  return chosen;
}

}  // namespace gaussweep::driver
