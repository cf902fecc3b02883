#pragma once
/// Loads records (results of trials) from a run directory, its journal (journal.jsonl, the primary file) or
/// its results file (results.h5).

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "driver/plan/shard.hpp"
#include "driver/results/journal_results.hpp"
#include "io/records/record.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// The loaded records, with remarks about the source.
struct Loaded {
  io::Results results;
  std::filesystem::path path;        ///< as the caller passed it
  bool has_notes = false;            ///< true if a journal with notes about the run was read
  std::vector<std::string> remarks;  ///< warnings, e.g. about a damaged journal or several builds
};

/// Loads records from a results file, a journal (recognised by content) or a run directory. In a run
/// directory, reads the journal. Reads results.h5 instead if there is no journal, or if the journal has
/// damaged lines and results.h5 agrees with the undamaged ones. HDF5 files are read in a child process,
/// because damaged ones may crash HDF5.
/// @param with_details false: samples, stages and convergence histories may be left out
/// @pre this process has not initialised MPI
/// @throws io::InputError if there is nothing to read, or if gaussweep did not write the file
Loaded load(const std::filesystem::path& path, bool with_details);

/// Loads records and prints the remarks on standard error.
Loaded load_and_warn(const std::filesystem::path& path, bool with_details);

/// Counts the records of a results file that would be lost if the file were replaced by the records `others`.
/// Records are compared by key and run. Returns 0 if the file does not exist or cannot be read.
/// @param others returns the other records. It is called after the file was read, so that the journal of a
/// running sweep has all records of the file
/// @pre this process has not initialised MPI
std::size_t records_only_in(const std::filesystem::path& results,
                            const std::function<const std::vector<io::Record>&()>& others);

/// Returns the run directories at or below a path, at most three levels deep, such as a sweep's shards. They
/// are sorted by name, with numbers compared by value. Returns the path itself if there are none, so that
/// reading it gives the error. A directory with a results.h5 and no journal counts as a run directory. It
/// does not count if there are journals below it, because its results.h5 is then a merged copy of these.
/// @param by_journal true: only directories with a journal count
std::vector<std::filesystem::path> runs_under(const std::filesystem::path& path, bool by_journal = false);

/// Returns one message per requested directory whose results.h5 `runs_under` leaves out.
std::vector<std::string> unread_results(const std::vector<std::filesystem::path>& requested);

/// Returns the folder of a shard's run directory ("night/shard-1-of-3": "night"), and any other path
/// unchanged.
std::filesystem::path sweep_of(const std::filesystem::path& run);

/// A run directory and the part of a plan that it holds, according to its journal.
struct PlanPart {
  std::filesystem::path directory;
  Shard shard;  ///< shard 1 of 1: the whole plan, or unknown
  std::string plan_name;
};
/// A sweep in shards, some of which do not exist.
struct IncompleteSweep {
  std::vector<std::size_t> parts;    ///< indices of the shards that exist
  std::vector<std::string> missing;  ///< messages: "runs/shard-3-of-3 is not there"
};
/// Returns the sweeps of which only some shards (separately run parts of a plan) exist. Directories with
/// names such as "shard-1-of-3" in one folder are shards of one sweep. All other shards are of one sweep if
/// they have the same plan and number of shards; if a shard then occurs twice, each folder has a sweep. If
/// `requested` names a single shard of a sweep, the other shards are not reported. A shard that exists but
/// was not requested does not count as missing.
/// @param parts the run directories at or below `requested`
std::vector<IncompleteSweep> incomplete_sweeps(const std::vector<PlanPart>& parts,
                                               const std::vector<std::string>& requested);
/// Returns the messages of `incomplete_sweeps`. Reads the beginnings of the journals.
std::vector<std::string> missing_shards(const std::vector<std::filesystem::path>& directories,
                                        const std::vector<std::string>& requested);

/// Returns "the records are from 2 builds: commit 1a2b (12), commit 3c4d (30)"; empty if all records are of
/// one build. Skipped records do not count, because no build ran them. If a shared library of methods has
/// several versions, also lists these.
/// @param commit the commit of a build that is about to add records; empty if there is none
std::string mixed_builds(const std::vector<io::Record>& records, const std::string& commit = {});

/// Returns true if other programs used the CPUs during a trial on the CPU. Its times may then be too long.
bool is_disturbed(const io::Record& record);
/// Returns "other programs used the CPUs during 2 of 10 trials on the CPU (2.0 to 3.0 threads per CPU wanted
/// to run)"; empty if fewer than a fifth of the trials on the CPU were disturbed.
std::string busy_text(const std::vector<io::Record>& records);
/// Prints notes on conditions that make times doubtful: other programs used the CPUs, or a GPU was
/// throttled.
/// @param where prefix of the notes, e.g. "base: "
void note_conditions(const std::vector<io::Record>& records, const std::string& where = {});
/// Prints a note if a library has several versions among the records. The caller pools the times of all
/// versions.
void note_libraries(const std::vector<io::Record>& pooled, const std::string& where = {});
/// Returns the numbers of threads per rank that the records' methods on the CPU ran with, without unknown
/// ones.
std::set<std::int64_t> cpu_threads(const io::Results& results);
/// @param of_host as threads_by_host returns it
std::set<std::int64_t> cpu_threads(const std::vector<const io::Record*>& records,
                                   const std::map<std::string, std::int64_t>& of_host);
/// Returns the number of threads per rank by host; 0 if it is unknown.
std::map<std::string, std::int64_t> threads_by_host(const std::vector<io::HostRow>& hosts);
/// Prints a note if there are several numbers of threads.
/// @param effect what follows for the caller's result: "their times are pooled"
void note_threads(const std::set<std::int64_t>& threads, const std::string& where, const char* effect);
/// Prints the notes of note_conditions and note_libraries on results whose times the caller pools. Also
/// prints a note if methods on the CPU ran with different numbers of threads.
void note_conditions(const io::Results& pooled, const std::string& where = {});

}  // namespace gaussweep::driver
