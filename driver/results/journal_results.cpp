#include "driver/results/journal_results.hpp"

#include <set>
#include <unordered_set>
#include <utility>

#include "driver/base/lookup.hpp"
#include "driver/results/device_peaks.hpp"

namespace gaussweep::driver {
namespace {

constexpr const char* unplanned = "no longer in the plan";

}  // namespace

io::Results results_of(io::JournalContents journal) {
  io::Results results;
  results.records = std::move(journal.records);
  std::set<std::string> known_hosts;
  std::unordered_set<std::string> vanished;
  for (const io::Note& each : journal.notes) {
    if (const auto* device = std::get_if<io::note::Device>(&each)) {
      results.devices.push_back(device->row);
    } else if (const auto* host = std::get_if<io::note::Host>(&each)) {
      if (known_hosts.insert(host->row.host).second) results.hosts.push_back(host->row);
    } else if (const auto* gone = std::get_if<io::note::Vanished>(&each)) {
      vanished = {gone->keys.begin(), gone->keys.end()};
    } else if (const auto* run = std::get_if<io::note::Run>(&each)) {
      const bool was_dirty = attribute(results, "dirty") == "true";
      for (auto& [name, value] : run->attributes()) results.attributes[name] = value;
      // Records of earlier starts stay, so uncommitted changes of any start mark the whole run as dirty.
      if (was_dirty) results.attributes["dirty"] = "true";
    }
  }
  unify_peaks(results);
  drop_repeated_devices(results);
  results.attributes["record_count"] = std::to_string(results.records.size());
  for (io::Record& record : results.records) {
    if (vanished.count(record.key) == 0) continue;
    record.message += (record.message.empty() ? "" : "; ") + std::string(unplanned);
  }
  return results;
}

bool is_unplanned(const io::Record& record) {
  return record.message.find(unplanned) != std::string::npos;
}

io::note::Run last_start(const io::JournalContents& journal) {
  io::note::Run last;
  for (const io::Note& note : journal.notes) {
    if (const auto* run = std::get_if<io::note::Run>(&note)) last = *run;
  }
  return last;
}

std::string attribute(const io::Results& results, const std::string& name) {
  const std::string* value = find_in(results.attributes, name);
  return value == nullptr ? std::string() : *value;
}

}  // namespace gaussweep::driver
