#pragma once
/// The status of a running or ended sweep (the execution of a plan). It is read from the sweep's journal, a
/// file to which each trial's record is appended. A sweep starts again each time it is resumed; "the last
/// start" is the most recent of these starts.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driver/plan/cost_model.hpp"
#include "driver/results/loading.hpp"
#include "driver/summary/device_use.hpp"
#include "driver/summary/trial_columns.hpp"
#include "driver/system/clock.hpp"
#include "io/records/journal.hpp"

namespace gaussweep::driver {

/// The status of one run directory.
struct SweepStatus {
  std::string plan_name, run_id, started;  ///< of the last start
  /// Advice for the user on completing the last start if it did not end.
  std::string advice = "go on with the same command and --resume";
  std::int64_t starts = 0;
  /// Trials of the plan, or of the shard (the part of the plan that this sweep runs); -1 if no start is
  /// recorded.
  std::int64_t total = -1;
  std::int64_t plan_trials = -1;  ///< trials of the plan, i.e. of all shards; -1: not recorded
  Shard shard;                    ///< of the last start
  std::int64_t done = 0;          ///< the trials of `total` that have a record
  /// Trials among `done` that failed for a temporary reason; a resumed run repeats them.
  std::int64_t temporary_failures = 0;
  std::int64_t of_other_shards = 0;  ///< records of the plan's other shards in the same directory
  std::int64_t vanished = 0;     ///< records of trials that are no longer in the plan, because it was edited
  std::int64_t since_start = 0;  ///< number of records since the last start, without skipped ones
  std::map<std::string, std::int64_t> counts;  ///< by status, without vanished trials
  bool running = false;
  bool ended = false;  ///< true if the last start ended and was not killed
  std::int64_t exit_code = -1;
  std::string reason;  ///< the reason for an early end, from the journal or from the job's output
  double trials_per_second = io::Record::unknown;  ///< since the last start
  std::optional<TimeRange>
      seconds_left;             ///< seconds left, by the run's last estimate; only while the run is active
  std::int64_t unexpected = 0;  ///< records that did not end as the plan expects
  std::map<std::string, std::int64_t> findings;  ///< expected failures, by status
  std::vector<io::Record> failures;              ///< the last unexpected records, newest last
  TrialColumns names{{}, Reader::person};        ///< columns that identify the failures among all records
  std::vector<DeviceUse> devices;                ///< since the last start
  std::vector<std::string> remarks;
};

/// Returns true if a running process holds the lock file. Does not wait.
bool is_locked(const std::filesystem::path& lock);

/// Computes the status. @param running true if a process holds the run's lock @param max_failures limit on
/// the size of `SweepStatus::failures`
SweepStatus status_of(const io::JournalContents& journal, bool running, const Timestamp& now,
                      std::size_t max_failures);

/// A status and its run directory.
struct NamedStatus {
  std::string directory;
  SweepStatus status;
};

/// The status of several sweeps, or of the shards of one.
struct Statuses {
  std::vector<NamedStatus> all;
  std::vector<IncompleteSweep> incomplete = {};  ///< IncompleteSweep::parts are indices of `all`
  bool is_one() const { return all.size() == 1 && incomplete.empty(); }
  bool any_running() const;
  /// Returns the number of trials of all plans, including those of missing shards; -1 if it is unknown.
  std::int64_t total() const;
};

/// Returns a table with one row per sweep, their sum, and the unexpected failures.
std::string statuses_text(const Statuses& statuses, std::size_t width);
nlohmann::ordered_json statuses_json(const Statuses& statuses);
/// Returns one line about all sweeps: "3 of 8 (37.5%), running, 1 not as expected, 2 min 10 s left".
std::string statuses_line(const Statuses& statuses);

/// Returns the status of one sweep as text. @param width of the tables (see render_text)
std::string status_text(const SweepStatus& status, std::size_t width);
nlohmann::ordered_json status_json(const SweepStatus& status);

}  // namespace gaussweep::driver
