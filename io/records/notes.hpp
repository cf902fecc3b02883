#pragma once
/// The notes of a journal (io/SCHEMA.md): what it says besides records.

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "io/records/rows.hpp"

namespace gaussweep::io {

namespace note {

/// The machine's clocks at a start.
struct Clocks {
  std::string boot;                 ///< which start of the machine; empty: not known
  double uptime = Record::unknown;  ///< seconds since
};

/// A start of the run.
struct Run {
  static constexpr const char* name = "run";
  std::string run_id, plan, plan_name, backend, shard, began, started;
  std::int64_t total = -1;  ///< trials of this shard; -1: not said
  Clocks clock;
  nlohmann::json provenance = nlohmann::json::object();  ///< all else: version, commit, job, …

  /// Everything as the attributes of results.h5.
  std::map<std::string, std::string> attributes() const;
};

struct Device {
  static constexpr const char* name = "device";
  DeviceRow row;
  std::string time;
};

struct Host {
  static constexpr const char* name = "host";
  HostRow row;
};

/// Trials that the edited plan no longer has; each start says anew which.
struct Vanished {
  static constexpr const char* name = "vanished";
  std::vector<std::string> keys;
};

/// A rank whose device failed.
struct Retired {
  static constexpr const char* name = "retired";
  std::int64_t rank = -1;
  std::string reason = "no reason was recorded";
};

/// What the run was told to take yet, in seconds; NaN: not known.
struct Left {
  static constexpr const char* name = "left";
  double low = Record::unknown, likely = Record::unknown, high = Record::unknown;
  std::string time;
};

/// An orderly end.
struct End {
  static constexpr const char* name = "end";
  std::int64_t exit_code = -1;
  std::string reason, time;
};

/// A note of another version: kept, not understood.
struct Other {
  nlohmann::json all;
};

}  // namespace note

using Note = std::variant<note::Run, note::Device, note::Host, note::Vanished, note::Retired, note::Left,
                          note::End, note::Other>;

/// As its line in the journal.
nlohmann::json note_json(const Note& note);

/// An object with the member "note". @throws InputError where it is none of our notes: a member of another
/// type than that of its kind, or one that lacks
Note read_note(const nlohmann::json& json);

}  // namespace gaussweep::io
