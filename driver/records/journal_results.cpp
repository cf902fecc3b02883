#include "driver/records/journal_results.hpp"

#include <set>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "driver/records/origin_rows.hpp"

namespace gaussweep::driver {

io::Results results_of(const io::JournalContents& journal) {
  using nlohmann::json;
  io::Results results;
  results.records = journal.records;
  std::set<std::string> known_devices, known_hosts;
  std::unordered_set<std::string> vanished;
  for (const std::string& text : journal.notes) {
    const json note = json::parse(text);
    const std::string kind = note.value("note", "");
    if (kind == "device") {
      const io::DeviceRow row = device_row_from_json(note.at("row"));
      if (known_devices.insert(row.host + " " + row.gpu_uuid + " " + row.gpu_name).second)
        results.devices.push_back(row);
    } else if (kind == "host") {
      const io::HostRow row = host_row_from_json(note.at("row"));
      if (known_hosts.insert(row.host).second) results.hosts.push_back(row);
    } else if (kind == "vanished") {
      vanished.clear();  // each start says anew which ones
      for (const json& key : note.at("keys")) vanished.insert(key.get<std::string>());
    } else if (kind == "run") {
      for (const auto& [name, value] : note.items()) {
        if (name != "note")
          results.attributes[name] = value.is_string() ? value.get<std::string>() : value.dump();
      }
    }
  }
  results.attributes["record_count"] = std::to_string(results.records.size());
  for (io::Record& record : results.records) {
    if (vanished.count(record.key) == 0) continue;
    record.message += record.message.empty() ? "no longer in the plan" : "; no longer in the plan";
  }
  return results;
}

}  // namespace gaussweep::driver
