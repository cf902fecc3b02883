#pragma once
/// The notes of a journal (a run's file with one JSON object per line): the lines that describe the run, its
/// devices and its hosts. All other lines are records of trials (io/SCHEMA.md).

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "io/records/rows.hpp"

namespace gaussweep::io {

namespace note {

/// The machine's clocks at the start of a run.
struct Clocks {
  std::string boot;                 ///< the id of the machine's boot; empty: unknown
  double uptime = Record::unknown;  ///< seconds since that boot
};

/// A start of the run: the first one or a resume. `began` is the time at which its process started, `started`
/// the time in the attributes of results.h5.
struct Run {
  static constexpr const char* name = "run";
  std::string run_id, plan, plan_name, backend, shard, began, started;
  std::int64_t total = -1;  ///< trials of this shard; -1: not recorded
  Clocks clock;
  nlohmann::json provenance = nlohmann::json::object();  ///< all other members: version, commit, job, …

  /// Returns all members as the attributes of results.h5.
  std::map<std::string, std::string> attributes() const;
};

/// The plan's folder, and the methods of its shared libraries, at a start of the run. `status --missing` uses
/// them to list the plan's trials.
struct Inputs {
  static constexpr const char* name = "inputs";
  std::string folder;                                  ///< absolute; relative paths in the plan begin here
  nlohmann::json libraries = nlohmann::json::array();  ///< the method rows of the shared libraries
};

/// A device of the run: its row of /devices, and the time at which its first worker was ready.
struct Device {
  static constexpr const char* name = "device";
  DeviceRow row;
  std::string time;
};

/// A machine of the run: its row of /hosts.
struct Host {
  static constexpr const char* name = "host";
  HostRow row;
};

/// Trials that an edited plan no longer contains; every start writes the current list.
struct Vanished {
  static constexpr const char* name = "vanished";
  std::vector<std::string> keys;  ///< Record::key of each trial
};

/// An MPI rank that gets no more trials, because its device failed or the rank stopped answering.
struct Retired {
  static constexpr const char* name = "retired";
  std::int64_t rank = -1;
  std::string reason = "no reason was recorded";
};

/// The estimate of the run's remaining seconds; NaN: unknown.
struct TimeLeft {
  static constexpr const char* name = "left";
  double low = Record::unknown, likely = Record::unknown, high = Record::unknown;
  std::string time;
};

/// The regular end of a run.
struct End {
  static constexpr const char* name = "end";
  std::int64_t exit_code = -1;
  std::string reason, time;
};

/// A note of an unknown kind, written by another version. It is kept unchanged.
struct Other {
  nlohmann::json all;
};

}  // namespace note

using Note = std::variant<note::Run, note::Inputs, note::Device, note::Host, note::Vanished, note::Retired,
                          note::TimeLeft, note::End, note::Other>;

/// Returns the note as the object of its line in the journal.
nlohmann::json note_json(const Note& note);

/// Reads an object with the member "note". @throws InputError if a member has the wrong type or a required
/// member is missing
Note read_note(const nlohmann::json& json);

}  // namespace gaussweep::io
