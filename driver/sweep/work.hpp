#pragma once
/// Selects the trials that a started or resumed run still has to do, and counts how its trials ended. A trial
/// is one method on one matrix; its record in the run's journal has the result.

#include <string>
#include <vector>

#include "driver/plan/trial.hpp"
#include "driver/sweep/run_directory.hpp"
#include "driver/sweep/run_options.hpp"

namespace gaussweep::driver {

/// The trials of this run's shard (its part of the plan).
struct Work {
  std::vector<Trial> all;
  std::vector<Trial> todo;      ///< the trials without a record and the trials to be repeated
  std::size_t plan_trials = 0;  ///< number of the plan's trials, i.e. of all shards
};

/// Returns the work of a run. @param trials all trials of the plan
Work plan_work(const RunOptions& options, std::vector<Trial> trials, const io::JournalContents& journal);

/// Judges recorded answers again if the plan's tolerances or expected statuses have changed. No trial runs,
/// because the records contain the residuals.
void judge_records_again(RunDirectory& directory, const std::vector<Trial>& trials);

/// Finds the records whose trials are no longer in the plan; notes them in the journal and logs their number.
void note_unplanned(RunDirectory& directory, const std::vector<Trial>& trials);

/// Records the trials that cannot run here, and removes them from `work.todo`.
void record_skipped(RunDirectory& directory, Work& work, const Registry& registry);

/// Returns a line per method of which all trials in some precision are skipped. The line has the number of
/// these trials and the reason of the first.
std::vector<std::string> skipped_methods(const std::vector<Trial>& trials);

/// Returns a line per method with trials that the plan lets run, but that were skipped when they were due. An
/// example is a trial that does not fit in memory: "gesv/lapack: 2 trials skipped, needs 53.6 GiB of host
/// memory …".
std::vector<std::string> skipped_in_run(const Work& work, const io::JournalContents& journal);

/// Returns the statuses of the recorded trials that did not end as the plan expects and are not repeated.
std::vector<std::string> unexpected_before(const Work& work, const io::JournalContents& journal);

/// The number of a run's trials that did not end as the plan expects.
struct Outcome {
  std::size_t wrong = 0;    ///< have another status: `failed`, `diverged`, `suspect`, or an unexpected `pass`
  std::size_t broken = 0;   ///< crashed, timed out or could not run
  std::size_t missing = 0;  ///< have no record
};
/// Counts the unexpected ends of all trials of the shard.
Outcome outcome_of(const Work& work, const io::JournalContents& journal);

/// Returns the exit code of a run. @param lost_its_ranks true if trials are left because ranks were lost
int exit_code_of(const Outcome& outcome, bool lost_its_ranks);

/// Returns an exit code with its reason: "exit code 1: 3 trials did not end as expected".
std::string exit_text(int code, const Outcome& outcome);

/// Returns the keys of the trials to do whose last record is a failure.
std::vector<std::string> failed_before(const Work& work, const io::JournalContents& journal);

/// Logs the number of trials that failed before this run and pass now. @param failed the result of
/// `failed_before`
void log_repaired(const std::vector<std::string>& failed, const io::JournalContents& journal);

/// Returns the command that continues a run, with the options that it still needs. In a batch job returns the
/// submit script's command, which the variable GAUSSWEEP_SUBMITTED_BY holds.
/// @param launcher the command before the program, such as "mpirun -n 2 "
/// @param option --resume or --retry-failed
std::string resume_command(const RunOptions& options, const std::string& launcher, const char* option);

/// Returns advice on how to continue a stopped run. In a batch job the advice is conditional, because the
/// scripts of jobs/slurm often requeue their job.
std::string resume_advice(const RunOptions& options, const std::string& launcher);

/// Logs the trials that did not end as the plan expects. @param retry_command the command that repeats them
void log_unexpected(const Work& work, const io::JournalContents& journal, const RunOptions& options,
                    const std::string& retry_command);

}  // namespace gaussweep::driver
