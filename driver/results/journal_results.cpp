/// Converts a journal, a run's primary file of records and notes, to the contents of results.h5.

#include "driver/results/journal_results.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "driver/base/lookup.hpp"
#include "driver/results/device_peaks.hpp"
#include "driver/results/host_names.hpp"
#include "driver/results/identity.hpp"

namespace gaussweep::driver {
namespace {

constexpr const char* unplanned = "no longer in the plan";

/// The names of a run's hosts. A host's name may include its number of BLAS threads. The name may therefore
/// change between two starts of the run.
class HostNamesByStart {
 public:
  /// Adds the host in a note, and returns the host's name for the records after this note. @param note the
  /// note's index
  std::string add(const io::HostRow& row, std::size_t note) {
    const std::string name = names_by_note_[row.host].emplace_back(note, names_.unique_name(row)).second;
    have_changed_ = have_changed_ || name != row.host;
    return name;
  }
  /// Returns true if a host has another name than in the journal.
  bool have_changed() const { return have_changed_; }
  /// Returns the name of a host after the first `notes` notes of the journal.
  io::Text name_at(const io::Text& host, std::size_t notes) const {
    const auto found = names_by_note_.find(host);
    if (found == names_by_note_.end()) return host;
    io::Text name = host;
    for (const auto& [note, each] : found->second) {
      if (note < notes) name = each;
    }
    return name;
  }

 private:
  HostNames names_;
  /// By host: the indices of the notes about it, each with the host's name after that note.
  std::map<std::string, std::vector<std::pair<std::size_t, std::string>>> names_by_note_;
  bool have_changed_ = false;
};

/// Removes records of methods in an earlier version of a shared library, if the current version has repeated
/// their trials.
/// @param vanished keys of the trials that are no longer in the plan
void drop_earlier_versions(std::vector<io::Record>& records,
                           const std::unordered_set<std::string>& vanished) {
  if (vanished.empty()) return;
  const auto is_vanished = [&](const io::Record& r) { return vanished.count(r.key) > 0; };
  std::unordered_set<std::string> current;  // trial identities, which the library's version does not change
  for (const io::Record& record : records) {
    if (!record.library.empty() && !is_vanished(record)) current.insert(trial_identity(record));
  }
  if (current.empty()) return;
  const auto is_earlier = [&](const io::Record& r) {
    return !r.library.empty() && is_vanished(r) && current.count(trial_identity(r)) > 0;
  };
  records.erase(std::remove_if(records.begin(), records.end(), is_earlier), records.end());
}

}  // namespace

io::Results results_of(io::JournalContents journal) {
  io::Results results;
  results.records = std::move(journal.records);
  std::set<std::string> known_hosts;
  std::unordered_set<std::string> vanished;
  HostNamesByStart names;
  for (std::size_t i = 0; i < journal.notes.size(); ++i) {
    const io::Note& each = journal.notes[i];
    if (const auto* device = std::get_if<io::note::Device>(&each)) {
      results.devices.push_back(device->row);
      results.devices.back().host = names.name_at(device->row.host, i);
    } else if (const auto* host = std::get_if<io::note::Host>(&each)) {
      io::HostRow row = host->row;
      row.host = names.add(host->row, i);
      if (known_hosts.insert(row.host).second) results.hosts.push_back(std::move(row));
    } else if (const auto* gone = std::get_if<io::note::Vanished>(&each)) {
      vanished = {gone->keys.begin(), gone->keys.end()};
    } else if (const auto* run = std::get_if<io::note::Run>(&each)) {
      const bool was_dirty = attribute(results, "dirty") == "true";
      for (auto& [name, value] : run->attributes()) results.attributes[name] = value;
      // Records of earlier starts stay in the results. The whole run is therefore marked as dirty if the
      // build had uncommitted changes at any start.
      if (was_dirty) results.attributes["dirty"] = "true";
    }
  }
  for (std::size_t i = 0; names.have_changed() && i < results.records.size(); ++i)
    results.records[i].host = names.name_at(results.records[i].host, journal.notes_before[i]);
  drop_earlier_versions(results.records, vanished);
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

std::optional<io::note::Inputs> last_inputs(const io::JournalContents& journal) {
  std::optional<io::note::Inputs> last;
  for (const io::Note& note : journal.notes) {
    if (std::holds_alternative<io::note::Run>(note)) last.reset();
    if (const auto* inputs = std::get_if<io::note::Inputs>(&note)) last = *inputs;
  }
  return last;
}

std::string attribute(const io::Results& results, const std::string& name) {
  const std::string* value = find_in(results.attributes, name);
  return value == nullptr ? std::string() : *value;
}

}  // namespace gaussweep::driver
