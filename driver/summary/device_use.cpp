/// Computes the use of devices over time from the phases (inputs, warm-up, samples, …) of the trials.

#include "driver/summary/device_use.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "driver/judge/judge.hpp"
#include "driver/system/clock.hpp"

namespace gaussweep::driver {

std::vector<Interval> intervals_of(const io::Record& record) {
  std::vector<Interval> intervals;
  intervals.reserve(phases().size());
  const double end = parse_time(record.end_time);
  for (const Phase& phase : phases()) {
    const double began = record.*phase.began;
    if (!std::isnan(began)) intervals.push_back({&phase, began, end});
  }
  const auto is_earlier = [](const Interval& a, const Interval& b) { return a.began < b.began; };
  if (!std::is_sorted(intervals.begin(), intervals.end(), is_earlier))
    std::stable_sort(intervals.begin(), intervals.end(), is_earlier);
  for (std::size_t i = 0; i + 1 < intervals.size(); ++i) intervals[i].ended = intervals[i + 1].began;
  constexpr double rounding = 1e-5;  // seconds by which the rounding of time stamps may reorder them
  if (!intervals.empty() && !(end >= intervals.back().began - rounding)) intervals.clear();
  if (!intervals.empty()) intervals.back().ended = std::max(end, intervals.back().began);
  return intervals;
}

double DeviceUse::busy() const {
  double sum = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i) sum += phases()[i].busy ? seconds[i] : 0;
  return span > 0 ? sum / span : io::Record::unknown;
}

std::string DeviceUse::idle_text() const {
  constexpr double min_fraction = 0.005;  // fraction of the span below which a phase is not named
  std::vector<std::pair<double, std::string>> idle;
  double known = cpu_methods + lost;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    known += seconds[i];
    if (!phases()[i].busy) idle.emplace_back(seconds[i], phases()[i].name);
  }
  idle.emplace_back(cpu_methods, "methods of the CPU");
  idle.emplace_back(lost, "timeouts and crashes");
  idle.emplace_back(span - known, "not recorded");
  std::sort(idle.begin(), idle.end(), std::greater<>());
  std::string text;
  for (const auto& [time, name] : idle) {
    if (time >= min_fraction * span)
      text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : ", ", name, 100 * time / span);
  }
  return text;
}

std::vector<DeviceUse> use_of_devices(const std::vector<const io::Record*>& records) {
  using Key = std::tuple<std::string_view, std::string_view, std::int64_t>;
  const auto key_of = [](const io::Record& r) { return Key{r.run_id, r.host, r.rank}; };
  std::map<Key, std::string_view> gpus;            // names, by rank
  std::map<Key, std::set<std::string_view>> ends;  // end times of trials; they sort as text
  for (const io::Record* record : records) {
    ends[key_of(*record)].insert(record->end_time);
    if (!record->gpu_name.empty()) gpus[key_of(*record)] = record->gpu_name;
  }
  struct Entry {
    DeviceUse use;
    double first = HUGE_VAL, last = -HUGE_VAL;  // begin of the first trial, end of the last one
  };
  std::vector<Entry> all;
  std::map<Key, std::size_t> index_of;
  for (const io::Record* record : records) {
    const std::vector<Interval> intervals = intervals_of(*record);
    // If the worker ended, the record has no phases. A GPU's name is missing if its rank ended, too; then the
    // record's times are those of the next start.
    const double end = parse_time(record->end_time);
    double start = parse_time(record->start_time);
    const bool is_lost = intervals.empty() && is_broken(record->status) && start < end &&
                         (record->backend != "cuda" || !record->gpu_name.empty());
    if (intervals.empty() && !is_lost) continue;
    const auto gpu = gpus.find(key_of(*record));
    const auto [index, is_new] = index_of.try_emplace(key_of(*record), all.size());
    if (is_new) {
      all.emplace_back();
      DeviceUse& use = all.back().use;
      use.device = gpu != gpus.end() ? gpu->second : "CPU";
      use.run = record->run_id;
      use.host = record->host;
      use.rank = record->rank;
      use.seconds.assign(phases().size(), 0);
    }
    Entry& entry = all[index->second];
    // True if a CPU method ran on a rank with a GPU.
    const bool idles_gpu = gpu != gpus.end() && record->gpu_name.empty();
    ++entry.use.trials;
    for (const Interval& interval : intervals) {
      const auto phase = static_cast<std::size_t>(interval.phase - phases().data());
      // The busy phases of a CPU method leave the rank's GPU idle.
      const bool is_cpu_method = idles_gpu && interval.phase->busy;
      double& seconds = is_cpu_method ? entry.use.cpu_methods : entry.use.seconds[phase];
      seconds += interval.ended - interval.began;
      entry.first = std::min(entry.first, interval.began);
      entry.last = std::max(entry.last, interval.ended);
    }
    if (is_lost) {
      // `start_time` has whole seconds, so it may lie before the end of the rank's previous trial.
      const std::set<std::string_view>& of_rank = ends[key_of(*record)];
      const auto same = of_rank.find(record->end_time);
      if (same != of_rank.begin()) start = std::fmax(start, parse_time(std::string(*std::prev(same))));
      entry.use.lost += end - start;
      entry.first = std::min(entry.first, start);
      entry.last = std::max(entry.last, end);
    }
    entry.use.span = entry.last - entry.first;
  }
  std::vector<DeviceUse> uses;
  for (Entry& entry : all) uses.push_back(std::move(entry.use));
  return uses;
}

Table device_use_table(std::vector<DeviceUse> uses) {
  std::vector<std::string> runs;  // in order of first appearance
  for (const DeviceUse& use : uses) {
    if (std::find(runs.begin(), runs.end(), use.run) == runs.end()) runs.push_back(use.run);
  }
  const auto number_of = [&](const DeviceUse& use) {
    return std::int64_t{std::find(runs.begin(), runs.end(), use.run) - runs.begin() + 1};
  };
  std::stable_sort(uses.begin(), uses.end(), [&](const DeviceUse& a, const DeviceUse& b) {
    return std::tuple(number_of(a), a.host, a.rank) < std::tuple(number_of(b), b.host, b.rank);
  });
  Table table;
  table.columns = {{"device", "DEVICE"},
                   {"run", "RUN"},
                   {"host", "HOST"},
                   {"rank", "RANK"},
                   {"trials", "TRIALS"},
                   {"seconds", "SPAN", Style::seconds},
                   {"busy_share", "BUSY", Style::percent}};
  for (const Phase& phase : phases()) {
    std::string title(phase.name);
    std::transform(title.begin(), title.end(), title.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    if (phase.busy) table.columns.push_back({std::string(phase.name), title, Style::percent});
  }
  table.columns.push_back({"otherwise", "OTHERWISE"});
  for (const DeviceUse& use : uses) {
    std::vector<Cell> row = {use.device, Cell(), use.host, use.rank, use.trials, use.span, use.busy()};
    if (runs.size() > 1) row[1] = number_of(use);
    for (std::size_t i = 0; i < phases().size(); ++i) {
      if (phases()[i].busy) row.emplace_back(use.seconds[i] / use.span);
    }
    row.emplace_back(use.idle_text());
    table.rows.push_back(std::move(row));
  }
  table.droppable = {"reference", "stages", "warm-up", "rank", "seconds"};
  return table;
}

}  // namespace gaussweep::driver
