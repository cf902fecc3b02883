/// Defines options that several commands share, checks option values and output paths, and formats the
/// parser's errors.

#include "driver/command/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <sys/stat.h>
#include <system_error>

#include "driver/results/loading.hpp"
#include "driver/worker/probe.hpp"
#include "io/files/errors.hpp"
#include "io/files/open_file.hpp"

namespace gaussweep::driver {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  // Internal commands such as `worker` have no group.
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App* s) { return !s->get_group().empty(); })) {
    names.push_back(sub->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->nonpositional()) continue;
    const auto& longs = option->get_lnames();
    names.push_back(longs.empty() ? "-" + option->get_snames().front() : "--" + longs.front());
  }
  return names;
}

/// Returns the error for a word that the command `app` does not know.
std::string unknown_word(const CLI::App& app, const std::string& command, const std::string& word) {
  if (word.size() > 1 && word.front() == '-') {
    const std::string name = word.substr(0, word.find('='));
    const std::vector<std::string> names = options_of(app);
    return fmt::format("{}: no option '{}'; {}allowed: {}", command, name, io::nearest_hint(name, names),
                       fmt::join(names, ", "));
  }
  const std::vector<std::string> names = commands_of(app);
  if (names.empty())
    return fmt::format("{}: unexpected argument '{}'; see {} --help", command, word, command);
  return fmt::format("{}: no command '{}'; {}allowed: {}", command, word, io::nearest_hint(word, names),
                     fmt::join(names, ", "));
}

bool are_same(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error);
}

/// Returns true if the folder is a run directory, which `gaussweep run` has made.
bool is_run(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "journal.jsonl", error) || fs::exists(folder / "lock", error);
}

/// Returns the run directory to which the file `folder`/`name` belongs; empty if it belongs to no run.
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
  // A run's results.h5 may be rebuilt from the run's journal, but not if the results.h5 is itself an input.
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

void allow_values(CLI::Option& option, const std::vector<std::string>& words) {
  const auto check = [words](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    return fmt::format("'{}'; {}allowed: {}", text, io::nearest_hint(text, words), fmt::join(words, ", "));
  };
  option.check(check, fmt::format("{{{}}}", fmt::join(words, ",")));
}

void allow_integers(CLI::Option& option, std::int64_t low, std::int64_t high) {
  const auto read = [low, high](std::string& text) -> std::string {
    try {
      text = std::to_string(io::parse_integer({text, {}}, low, high, ""));
    } catch (const io::InputError&) {
      return fmt::format("'{}'; allowed: a whole number from {} to {} (1k = 1024)", text, low, high);
    }
    return {};
  };
  option.transform(CLI::Validator(read, ""));
}

void allow_real(CLI::Option& option, double low, double high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    try {
      io::parse_real({text, {}}, low, high, "");
    } catch (const io::InputError&) {
      return fmt::format("'{}'; allowed: a number from {:g} to {:g}", text, low, high);
    }
    return {};
  };
  option.check(check, "");
}

void refuse_empty(CLI::Option& option) {
  option.check(
      [](const std::string& text) -> std::string {
        return text.empty() ? "an empty text; allowed: one value" : "";
      },
      "");
}

void add_format(CLI::App& command, std::string& format, const std::vector<std::string>& names) {
  allow_values(*command.add_option("--format", format, "Format of the output")->capture_default_str(), names);
}

void add_backend(CLI::App& command, std::string& backend, const std::string& help) {
  std::vector<std::string> names = enum_names<Backend>();
  names.insert(names.begin(), "auto");
  allow_values(*command.add_option("--backend", backend, help)->capture_default_str(), names);
}

void add_library_option(CLI::App& command, std::vector<std::string>& paths) {
  refuse_empty(*command
                    .add_option("--methods", paths,
                                "A shared library with more methods, e.g. ./mine.so; may be given repeatedly")
                    ->allow_extra_args(false));
}

CLI::Option& add_output(CLI::App& command, std::string& output, const std::string& help) {
  CLI::Option& option = *command.add_option("-o,--output", output, help);
  refuse_empty(option);
  return option;
}

Backend choose_backend(const std::string& name, std::unique_ptr<Device>& gpu) {
  std::string why;
  const bool may_use_gpu = name == "auto" || name == "cuda";
  if (may_use_gpu && cuda_device_count(&why) > 0) {
    gpu = make_worker_device(Backend::cuda);
    return Backend::cuda;
  }
  if (name == "cuda") throw UsageError(fmt::format("--backend cuda: there is no GPU here ({})", why));
  return name == "auto" ? Backend::emulated : parse_option<Backend>("--backend", name);
}

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

std::string parser_error_text(const CLI::App& app, const CLI::Error& error) {
  const CLI::App* at = &app;
  std::string command = app.get_name();
  for (;;) {
    const std::vector<std::string> unknown = at->remaining();
    if (!unknown.empty()) return unknown_word(*at, command, unknown.front());
    const std::vector<CLI::App*> chosen = at->get_subcommands();
    if (chosen.empty()) break;
    at = chosen.front();
    command += " " + at->get_name();
  }
  const std::vector<std::string> names = commands_of(*at);
  if (!names.empty()) {
    return fmt::format("{}: a command is missing; allowed: {}; see {} --help", command,
                       fmt::join(names, ", "), command);
  }
  return fmt::format("{}: {}; see {} --help", command, error.what(), command);
}

}  // namespace gaussweep::driver
