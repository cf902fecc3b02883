/// Measures the stages of one run, i.e. the parts that the method marks, with one event per mark.

#include "driver/worker/stage_timer.hpp"

#include <algorithm>

namespace gaussweep::driver {
namespace {
constexpr const char* before_first_stage = "";  // name of the interval before the first mark of the method
}

StageTimer::StageTimer(Device& device, bool per_call) : device_(device), per_call_(per_call) {
  mark(before_first_stage);
}

void StageTimer::mark(std::string_view name) {
  Mark next;
  next.name = name;
  next.event = device_.make_event();
  next.event->record();
  marks_.push_back(std::move(next));
}

void StageTimer::launched(double occupancy) {
  marks_.back().occupancy += occupancy;
  marks_.back().launches += 1;
}

std::int64_t StageTimer::launches() const {
  std::int64_t sum = 0;
  for (const Mark& mark : marks_) sum += mark.launches;
  return sum;
}

std::vector<io::Stage> StageTimer::finish() {
  const std::unique_ptr<Event> end = device_.make_event();
  end->record();
  device_.synchronize();
  std::vector<io::Stage> stages;
  std::vector<int> launches;  // per stage
  double total = 0;
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    const Mark& mark = marks_[i];
    if (mark.name == before_first_stage) continue;
    auto found = per_call_ ? stages.end()
                           : std::find_if(stages.begin(), stages.end(),
                                          [&](const io::Stage& s) { return s.kernel == mark.name; });
    if (found == stages.end()) {
      found = stages.emplace(stages.end());
      found->kernel = mark.name;
      found->occupancy = 0;
      launches.push_back(0);
    }
    const Event& next = i + 1 < marks_.size() ? *marks_[i + 1].event : *end;
    const double seconds = next.seconds_since(*mark.event);
    total += seconds;
    found->calls += 1;
    found->seconds += seconds;
    found->occupancy += mark.occupancy;
    launches[static_cast<std::size_t>(found - stages.begin())] += mark.launches;
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    stages[i].mean = stages[i].seconds / static_cast<double>(stages[i].calls);
    stages[i].share = total > 0 ? stages[i].seconds / total : 0;
    stages[i].occupancy = launches[i] > 0 ? stages[i].occupancy / launches[i] : io::Record::unknown;
  }
  return stages;
}

}  // namespace gaussweep::driver
