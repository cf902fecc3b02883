#pragma once
/// The outputs of the Slurm jobs that sweep into a directory.

#include <filesystem>
#include <string>

namespace gaussweep::driver {

/// Returns the newest output of a Slurm job that sweeps into a directory or one of its subdirectories; empty
/// if there is none. Ignores the last job of a night, which only merges the results.
std::filesystem::path newest_job_output(const std::filesystem::path& directory);

/// What a job has written since its last start.
struct JobOutput {
  bool is_starting = false;  ///< true if it was written in the last two minutes, and has no error and no end
  std::string write_error;   ///< the last error about a file that could not be written; empty if none
};
JobOutput read_job_output(const std::filesystem::path& path);

}  // namespace gaussweep::driver
