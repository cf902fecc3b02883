#pragma once
/// The trials that a start of a run has to do, by its plan and its journal, and how they ended.

#include <string>
#include <vector>

#include "driver/plan/trial.hpp"
#include "driver/sweep/run_directory.hpp"
#include "driver/sweep/session.hpp"

namespace gaussweep::driver {

/// The trials of this shard.
struct Work {
  std::vector<Trial> all;
  std::vector<Trial> todo;  ///< those without a record, or to be repeated
};

/// Returns the trials of the shard, and those that have no record or have to run again.
Work plan_work(const RunOptions& options, std::vector<Trial> trials, const io::JournalContents& journal);

/// Judges recorded answers again by the plan's present tolerances and expectations. Their residuals are
/// recorded, so nothing has to run.
void judge_recorded(RunDirectory& directory, const std::vector<Trial>& trials);

/// Notes the records whose trials are no longer in the plan.
void note_unplanned(RunDirectory& directory, const std::vector<Trial>& trials);

/// Records the trials that cannot run here, and removes them from `work.todo`.
void record_skipped(RunDirectory& directory, Work& work, const Registry& registry);

/// Returns the exit code of a run. @param lost_its_ranks true if trials are left because ranks were lost
int exit_code_of(const Work& work, const io::JournalContents& journal, bool lost_its_ranks);

/// Returns the command that continues a run with `how` (--resume or --retry-failed); in a batch job the
/// submit script's own command. @param launcher the words before the program, such as "mpirun -n 2 "
std::string resume_command(const RunOptions& options, const std::string& launcher, const char* how);

/// Logs the trials that did not end as the plan expects. @param retry the command that repeats them
void log_unexpected(const Work& work, const io::JournalContents& journal, const RunOptions& options,
                    const std::string& retry);

}  // namespace gaussweep::driver
