#pragma once
/// Finds and reads the output files of the Slurm jobs that run sweeps in a directory, to report the state of
/// a sweep.

#include <cstdint>
#include <filesystem>
#include <string>

namespace gaussweep::driver {

/// Returns the newest output file of a Slurm job whose run directory is this directory or one of its
/// subdirectories; empty if there is none. Ignores the last job of a nightly series, which only merges the
/// results.
std::filesystem::path newest_job_output(const std::filesystem::path& directory);

/// Returns the number of the job that was last submitted into this directory, or into the parent directory of
/// its shards (parts of a sweep). Returns 0 if there is none, or if `output`, the newest output file, is this
/// job's.
std::int64_t job_without_output(const std::filesystem::path& directory, const std::filesystem::path& output);

/// The state of a job, from the output that it has written since its last start.
struct JobOutput {
  /// True if the output was written in the last two minutes, and reports neither a started run nor an error
  /// nor the job's end.
  bool is_starting = false;
  std::string write_error;  ///< the last error about a file that could not be written; empty if none
  /// The last line about a cancelled job or step, or about a job that two starts without a record ended;
  /// empty if none.
  std::string stop_cause;
};
JobOutput read_job_output(const std::filesystem::path& path);

}  // namespace gaussweep::driver
