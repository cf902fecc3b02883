#pragma once
/// The options with which the program's commands (`run`, `try` and others) run a sweep.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/plan/planned_trials.hpp"
#include "driver/plan/shard.hpp"
#include "driver/sweep/queue.hpp"
#include "io/plan/plan.hpp"
#include "io/records/journal.hpp"

namespace gaussweep::driver {

/// The options of a sweep. `gaussweep run` has an option for most of them.
struct RunOptions {
  std::string plan, output;            ///< the plan's file, and the run directory
  std::optional<io::Plan> made_plan;   ///< replaces the file `plan` if set
  std::vector<std::string> libraries;  ///< shared libraries with methods, in addition to the plan's libraries
  MatrixFileCache files;               ///< matrix files that the caller has read
  /// True if the sweep logs unexpected results and notes on the plan; false if the caller reports them.
  bool lists_unexpected = true;
  /// False if the run directory is deleted afterwards; then no message suggests to resume the run.
  bool is_kept = true;
  bool resume = false;           ///< continues the run in `output`
  bool retry_failed = false;     ///< continues the run and repeats trials that failed
  bool dry_run = false;          ///< prints the trials, runs nothing
  std::string backend = "auto";  ///< "auto" or a backend: "cuda", "emulated" or "host"
  /// The reason why the sweep must not begin; empty if there is none. Only rank 0's value is used.
  std::string start_error;
  double time_limit = 0;        ///< seconds; 0: none
  std::string time_limit_text;  ///< the time limit as given on the command line; empty: none
  double grace = 20;            ///< seconds that running trials get after the first stop signal
  QueueOrder order = QueueOrder::longest_first;
  std::string store_limit;  ///< "50GiB", "none"; empty: the plan's limit or the default (`store_limit_of`)
  Shard shard;              ///< the part of the plan's trials that this run does (option --shard I/N)
  bool has_shard = false;   ///< true if the command line has the option --shard
  int gpus_per_rank = 1;
  std::string program = "gaussweep";  ///< the program's name on the command line
  std::string command_line;
  /// `run --refine` and `try` set this function. It is called when all trials of the plan were recorded
  /// before the time limit. Returns the plan that runs next, which has these trials and more, or nothing if
  /// the run is complete. Only for a run of one rank.
  std::function<std::optional<io::Plan>(const io::JournalContents&)> next_plan;
  /// Called on rank 0 once all trials are recorded, unless the run stopped early.
  std::function<void(const io::JournalContents&)> at_end;
};

}  // namespace gaussweep::driver
