#pragma once
/// How a running or ended sweep stands: read-only, from its journal.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driver/plan/cost_model.hpp"
#include "driver/summary/device_use.hpp"
#include "driver/summary/trial_columns.hpp"
#include "driver/system/clock.hpp"
#include "io/records/journal.hpp"

namespace gaussweep::driver {

struct SweepStatus {
  std::string plan_name, run_id, started;  ///< of the last start
  std::string resume;  ///< how to go on after the last start: its command with --resume, or words
  std::int64_t starts = 0;
  std::int64_t total = -1;     ///< trials of the plan (or shard); -1 where no start is recorded
  std::int64_t done = 0;       ///< of those, with a record
  std::int64_t for_now = 0;    ///< of those, left for now: a resume tries them again
  std::int64_t elsewhere = 0;  ///< records of other shards, which went into the same directory
  std::int64_t vanished = 0;   ///< records whose trial an edited plan no longer has
  std::int64_t fresh = 0;      ///< records since the last start, skipped ones not counted
  std::map<std::string, std::int64_t> counts;  ///< of all records that the plan still has, by status
  bool running = false;
  bool ended = false;  ///< the last start came to its end, as it says
  std::int64_t exit_code = -1;
  std::string reason;                            ///< of an early end
  double rate = io::Record::unknown;             ///< trials a second since the last start
  std::optional<TimeRange> left;                 ///< seconds, as the run told last; only while running
  std::int64_t unexpected = 0;                   ///< records that did not end as the plan expects
  std::map<std::string, std::int64_t> findings;  ///< records that are no pass, as the plan expects, by status
  std::vector<io::Record> failures;              ///< the last of the unexpected ones, newest last
  TrialColumns names{{}, Reader::person};  ///< of the failures, so that none is taken for another record
  std::vector<DeviceUse> devices;          ///< since the last start
  std::vector<std::string> remarks;
};

/// Whether a run holds the directory's lock. Waits for nothing.
bool is_locked(const std::filesystem::path& lock);

/// @param most_failures how many of the last failures are kept
SweepStatus status_of(const io::JournalContents& journal, bool running, const Timestamp& now,
                      std::size_t most_failures);

nlohmann::ordered_json status_json(const SweepStatus& status);
/// A status and whose it is.
struct NamedStatus {
  std::string directory;
  SweepStatus status;
};

/// Several sweeps, or shards of one.
struct Statuses {
  std::vector<NamedStatus> all;
  std::vector<std::string> missing;  ///< shards that are not there, in words
  bool is_one() const { return all.size() == 1 && missing.empty(); }
  bool any_running() const;
};

/// A row each, their sum, what did not end as expected.
std::string statuses_text(const Statuses& statuses, std::size_t width);
nlohmann::ordered_json statuses_json(const Statuses& statuses);
/// "3 of 8 (37.5%), running, 1 not as expected, 2 min 10 s left": of all together.
std::string statuses_line(const Statuses& statuses);

/// @param width of its tables (render_text)
std::string status_text(const SweepStatus& status, std::size_t width);

}  // namespace gaussweep::driver
