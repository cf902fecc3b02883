/// Finds and reads the outputs of Slurm jobs.

#include "driver/system/job_output.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <regex>
#include <vector>

namespace gaussweep::driver {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& line, const char* words) {
  return line.find(words) != std::string::npos;
}

/// If a line reports that a file could not be written, returns this error without the advice after it.
/// Otherwise returns an empty text.
std::string write_error_of(const std::string& line) {
  constexpr const char* causes[] = {"cannot be written",
                                    "No space left on device",
                                    "Disk quota exceeded",
                                    "Read-only file system",
                                    "cannot be stored: ",
                                    "Stale file handle",
                                    "nothing could be written for "};
  if (std::none_of(std::begin(causes), std::end(causes), [&](const char* cause) { return has(line, cause); }))
    return {};
  // The prefix of an error in a job's output, or that of a line in a rank's log.
  static const std::regex prefix("^(gaussweep: |[-0-9]+ [0-9:]+ [a-z]+: )");
  std::string error = std::regex_replace(line, prefix, "");
  if (const auto advice = error.find(". Once this is mended"); advice != std::string::npos)
    error.erase(error.rfind(". ", advice - 1));  // also erases the sentence with the number of saved records
  return error;
}

/// Returns true if a line reports an error or the end of the job script's work. Lines of the job script
/// (jobs/slurm/job.sh) contain ".sbatch: ".
bool is_final(const std::string& line) {
  if (line.rfind("gaussweep: ", 0) == 0 || has(line, "error: ")) return true;
  return has(line, ".sbatch: ") && !has(line, ".sbatch: the launcher ended") &&
         !has(line, ".sbatch: signalled");
}

/// Returns the folder `logs` of the job array that runs the shard (a part of a sweep) in this directory. Sets
/// `part` to the shard's task number. If the directory has no shard's name, returns its own folder of
/// outputs.
fs::path array_logs(const fs::path& directory, int& part) {
  const fs::path shard = directory.has_filename() ? directory : directory.parent_path();
  int parts = 0;
  const bool is_shard = std::sscanf(shard.filename().string().c_str(), "shard-%d-of-%d", &part, &parts) == 2;
  return (is_shard ? shard.parent_path() : directory) / "logs";
}

}  // namespace

fs::path newest_job_output(const fs::path& directory) {
  fs::path newest;
  fs::file_time_type time{};
  const auto search = [&](const fs::path& folder, const std::string& ending) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name.rfind("slurm-", 0) != 0 || name.rfind("slurm-gaussweep-finish-", 0) == 0) continue;
      if (name.size() < ending.size() ||
          name.compare(name.size() - ending.size(), ending.size(), ending) != 0)
        continue;
      std::error_code unknown;
      const auto written = entry->last_write_time(unknown);
      if (unknown || (!newest.empty() && written <= time)) continue;
      newest = entry->path();
      time = written;
    }
  };
  search(directory / "logs", "");
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    search(entry->path() / "logs", "");
  // The tasks of a job array write their outputs into `logs`, next to the directories of their shards.
  int part = 0;
  const fs::path logs = array_logs(directory, part);
  search(logs, "_" + std::to_string(part) + ".out");
  return newest;
}

std::int64_t job_without_output(const fs::path& directory, const fs::path& output) {
  int part = 0;
  for (const fs::path& logs : {directory / "logs", array_logs(directory, part)}) {
    std::int64_t job = 0;
    if (!(std::ifstream(logs / "submitted") >> job)) continue;
    const std::string name = output.filename().string(), number = "-" + std::to_string(job);
    return has(name, (number + ".").c_str()) || has(name, (number + "_").c_str()) ? 0 : job;
  }
  return 0;
}

JobOutput read_job_output(const fs::path& path) {
  constexpr std::streamoff max_read = 1 << 16;  // bytes at the file's end
  constexpr auto fresh = std::chrono::minutes(2);
  JobOutput output;
  std::ifstream file(path, std::ios::binary);
  file.seekg(0, std::ios::end);
  file.seekg(std::max<std::streamoff>(0, file.tellg() - max_read));
  bool is_over = false;
  for (std::string line; std::getline(file, line);) {
    // The file has the outputs of all starts; only the last start counts.
    const bool is_start = has(line, ".sbatch: job ") && has(line, ", start ");
    const bool is_run = has(line, " to do, ");  // rank 0 logs this at each start
    if (is_start || is_run) output = {};
    is_over = !is_start && (is_over || is_run || is_final(line));
    if (std::string error = write_error_of(line); !error.empty()) output.write_error = std::move(error);
    if (has(line, " CANCELLED AT ") || has(line, ".sbatch: no trial ended in two starts"))
      output.stop_cause = line;
  }
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  output.is_starting = !error && !is_over && fs::file_time_type::clock::now() - written < fresh;
  return output;
}

}  // namespace gaussweep::driver
