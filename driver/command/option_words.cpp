#include "driver/command/option_words.hpp"

#include <algorithm>
#include <array>
#include <sys/stat.h>
#include <system_error>

#include "driver/results/loading.hpp"
#include "io/files/open_file.hpp"

namespace gaussweep::driver {

namespace {

namespace fs = std::filesystem;

bool are_same(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error);
}

bool is_run(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "journal.jsonl", error) || fs::exists(folder / "lock", error);
}

/// Returns the run directory to which a file with this folder and name belongs; empty if it belongs to none.
fs::path run_directory_of(const fs::path& folder, const fs::path& name) {
  constexpr std::array<const char*, 4> files{"plan.yaml", "journal.jsonl", "results.h5", "lock"};
  if (std::find(files.begin(), files.end(), name) != files.end() && is_run(folder)) return folder;
  const bool is_inner = folder.filename() == "matrices" || folder.filename() == "logs";
  return is_inner && is_run(folder.parent_path()) ? folder.parent_path() : fs::path();
}

/// Returns the files that a command reads for its inputs.
std::vector<fs::path> files_of(const std::vector<std::string>& inputs) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const std::string& input : inputs) {
    for (const fs::path& found : runs_under(fs::path(input))) {
      if (!fs::is_directory(found, error)) {
        files.push_back(found);
        continue;
      }
      for (const char* name : {"journal.jsonl", "results.h5"}) files.push_back(found / name);
    }
  }
  return files;
}

/// Throws if writing to `path` would overwrite measurements. @throws UsageError if the file is an input or
/// belongs to a run directory
void check_measurements_kept(const fs::path& path, const std::vector<std::string>& inputs, Rebuild rebuild) {
  std::error_code error;
  const fs::path folder = fs::canonical(path.has_parent_path() ? path.parent_path() : ".", error);
  const std::vector<fs::path> files = files_of(inputs);
  const fs::path run = run_directory_of(folder, path.filename());
  if (rebuild == Rebuild::yes && !run.empty() && path.filename() == "results.h5") {
    const auto is_journal = [&](const fs::path& file) { return are_same(file, run / "journal.jsonl"); };
    const auto is_itself = [&](const std::string& input) { return are_same(input, path); };
    if (std::any_of(files.begin(), files.end(), is_journal) &&
        std::none_of(inputs.begin(), inputs.end(), is_itself))
      return;
  }
  if (std::any_of(files.begin(), files.end(), [&](const fs::path& file) { return are_same(file, path); }))
    throw UsageError(fmt::format("-o {}: is read by this command; give another name", path.string()));
  if (run.empty()) return;
  throw UsageError(fmt::format(
      "-o {}: belongs to the run directory {}; give another name{}", path.string(), run.string(),
      rebuild == Rebuild::no ? "" : ", or its results.h5 with this run directory among the inputs"));
}

}  // namespace

void check_output(const std::filesystem::path& path, bool force, const std::vector<std::string>& inputs,
                  Rebuild rebuild) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw UsageError(fmt::format("-o {}: is a directory; give the name of a file", path.string()));
  }
  // lstat, because a link counts as existing even if its target does not exist.
  struct stat facts {};
  const bool exists = ::lstat(path.c_str(), &facts) == 0;
  if (exists && !S_ISREG(facts.st_mode) && !S_ISLNK(facts.st_mode)) {
    throw UsageError(fmt::format("-o {}: is {}; only a regular file is ever replaced", path.string(),
                                 io::file_kind(facts.st_mode)));
  }
  if (exists && S_ISLNK(facts.st_mode) && ::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
    throw UsageError(fmt::format("-o {}: is a link to {}; only a regular file is ever replaced",
                                 path.string(), io::file_kind(facts.st_mode)));
  }
  if (exists && !force) {
    throw UsageError(
        fmt::format("-o {}: the file exists; give another name, or --force to replace it", path.string()));
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, error)) {
    throw UsageError(fmt::format("-o {}: the folder {} does not exist", path.string(), folder.string()));
  }
  check_measurements_kept(path, inputs, rebuild);
}

}  // namespace gaussweep::driver
