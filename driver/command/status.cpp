/// Implements `gaussweep status`: shows the progress of sweeps (runs of plans) from their journals. A run
/// appends each record to its journal when the trial ends.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <thread>

#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/table.hpp"
#include "driver/base/text_format.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/options.hpp"
#include "driver/command/records_output.hpp"
#include "driver/plan/axes.hpp"
#include "driver/plan/method_library.hpp"
#include "driver/plan/planned_trials.hpp"
#include "driver/plan/shard.hpp"
#include "driver/results/journal_results.hpp"
#include "driver/results/loading.hpp"
#include "driver/summary/sweep_status.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/console.hpp"
#include "driver/system/job_output.hpp"
#include "driver/system/terminal.hpp"
#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {

struct StatusOptions {
  std::vector<std::string> directories;
  std::string format = "table";
  std::size_t failures = 10;  ///< maximum number of failures to list
  std::size_t missing = 0;    ///< maximum number of trials without a record to list, per run
  bool watches = false;
};

/// Returns true unless the file was last written before the start of a run.
/// @param started the time of the start; if it is malformed, the result is true
bool was_written_since(const std::filesystem::path& file, const std::string& started) {
  constexpr double max_skew = 5;  // seconds between the clocks of two machines
  std::error_code error;
  const auto written = std::filesystem::last_write_time(file, error);
  const std::chrono::duration<double> age = std::filesystem::file_time_type::clock::now() - written;
  return error || !(age.count() > epoch_seconds() - parse_time(started) + max_skew);
}

/// Reads the status of one run directory.
/// @param failures maximum number of failures to list
/// @throws io::InputError if the directory has no readable journal, unless a Slurm job has just started in it
SweepStatus status_of_directory(const std::filesystem::path& directory, std::size_t failures) {
  const std::filesystem::path journal = directory / "journal.jsonl";
  std::error_code error;  // ignored: if the path cannot be examined, read_journal() below throws
  if (std::filesystem::is_regular_file(directory, error))
    throw io::InputError(
        fmt::format("{} is a file, but status needs run directories{}", directory.string(),
                    directory.extension() == ".h5"
                        ? "; `gaussweep summary " + shell_quoted(directory.string()) + "` shows its records"
                        : ""));
  if (std::filesystem::status(journal, error).type() == std::filesystem::file_type::not_found) {
    const std::filesystem::path output = newest_job_output(directory);
    SweepStatus starting;
    starting.running = !output.empty() && read_job_output(output).is_starting;
    if (starting.running) return starting;
    if (std::filesystem::exists(directory / "results.h5", error)) {
      throw io::InputError(fmt::format(
          "{} has no journal.jsonl, from which a status is computed; `gaussweep summary {}` shows the "
          "records in its results.h5",
          directory.string(), shell_quoted(directory.string())));
    }
    if (const std::int64_t job = job_without_output(directory, output); job > 0) {
      throw io::InputError(
          fmt::format("{0} has no journal.jsonl: job {1} was submitted and has no output yet; squeue shows "
                      "its state. If it does not list the job, `sacct -X -j {1}` shows why it ended",
                      directory.string(), job));
    }
    if (!output.empty()) {
      throw io::InputError(fmt::format("{} has no journal.jsonl: its job did not start a sweep; see {}",
                                       directory.string(), output.string()));
    }
    // In a folder of nightly runs, shows the newest subfolder into which a job was submitted.
    std::filesystem::path night;
    for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code unknown;
      if (std::filesystem::exists(entry->path() / "logs/submitted", unknown))
        night = std::max(night, entry->path());
    }
    if (!night.empty()) return status_of_directory(night, failures);
    if (std::filesystem::status(directory, error).type() == std::filesystem::file_type::not_found)
      throw io::InputError(fmt::format("{}: no such file or directory", directory.string()));
    throw io::InputError(
        fmt::format("{} has no journal.jsonl: either its run has not started yet, or it is neither a run "
                    "directory (made by `gaussweep run PLAN -o DIR`) nor a directory of run directories",
                    directory.string()));
  }
  // The lock is tested before the journal is read. A run that ends in between is then shown as running with
  // all trials done, not as killed.
  const bool running = is_locked(directory / "lock") || is_locked(journal);
  const io::JournalContents contents = io::read_journal(journal, /*with_details=*/false);
  const bool is_blank = contents.records.empty() && contents.notes.empty();
  if (is_blank && std::filesystem::exists(directory / "results.h5", error)) {
    throw io::InputError(
        fmt::format("{}: no line of journal.jsonl can be read{}{}; `gaussweep summary` shows the records in "
                    "results.h5",
                    directory.string(), contents.damaged > 0 ? ": " : "", io::first_damage(contents)));
  }
  SweepStatus status = status_of(contents, running, timestamp_now(), failures);
  // The directory may have moved since the run, or the run may have started in another working directory.
  static const std::regex output_option(R"re(( -o ?| --output[ =])((?:'[^']*'|\\'|[^ '])+))re");
  std::smatch match;
  if (std::regex_search(status.advice, match, output_option))
    status.advice.replace(match.position(2), match.length(2), shell_quoted(directory.string()));
  if (status.running || (status.ended && status.exit_code != exit_stopped)) return status;
  const std::filesystem::path output = newest_job_output(directory);
  const JobOutput job_output = read_job_output(output);
  if (const std::int64_t job = job_without_output(directory, job_output.is_starting ? "" : output); job > 0)
    status.advice = fmt::format(
        "job {} {}; squeue shows its state. If it does not list the job, {}", job,
        job_output.is_starting ? "has just started" : "was submitted and has no output yet", status.advice);
  const bool is_of_last_start = was_written_since(output, status.started);
  // Only the job's output has these causes. A node failure, for example, reaches the ranks as a signal.
  if (status.ended && is_of_last_start && !job_output.stop_cause.empty())
    status.remarks.push_back(fmt::format("{}: {}", output.string(), job_output.stop_cause));
  if (!status.ended) {
    // On a full disk, for example, the run cannot record why it ended.
    for (const std::filesystem::path& log : {directory / "logs/rank-0.log", output}) {
      const std::string cause = read_job_output(log).write_error;
      if (!cause.empty() && (log != output || is_of_last_start))
        status.reason = fmt::format("{} ({})", cause, log.string());
    }
    if (status.reason.empty() && !output.empty()) {
      status.remarks.push_back(fmt::format(
          "the journal does not record the end of the run; see {}{}", output.string(),
          std::filesystem::is_empty(output, error) ? ". It is empty; `sacct -X` shows how its job ended"
                                                   : ""));
    }
  }
  return status;
}

/// Adds the recorded descriptions of the methods of shared libraries (rows), because the libraries may have
/// changed since the run. Returns false and adds nothing if the rows are unreadable, because another version
/// of this program wrote the journal.
bool add_recorded_rows(Registry& registry, const nlohmann::json& rows) {
  Registry with_rows = registry;
  try {
    add_library_rows(with_rows, rows);
  } catch (const std::exception&) {
    return false;
  }
  registry = std::move(with_rows);
  return true;
}

/// Returns the planned trials without a record, in the plan's order. Uses the plan of the run's last start,
/// because a resumed run may have another plan than before.
/// @throws io::InputError or UsageError if the plan's trials cannot be determined, for example because one of
/// its matrix files is missing
std::vector<Trial> missing_trials(const std::filesystem::path& directory, Registry registry) {
  const io::JournalContents journal = io::read_journal(directory / "journal.jsonl", /*with_details=*/false);
  const io::note::Run start = last_start(journal);
  const auto backend = from_string<Backend>(start.backend);
  const auto shard = read_shard(start.shard);
  if (!backend || !shard) throw io::InputError("the journal does not record the plan of the run");
  std::string path = (directory / "plan.yaml").string();
  const io::Plan plan = io::parse_plan(start.plan, path, enum_names<Problem>());
  const auto inputs = last_inputs(journal);
  if (inputs) path = (std::filesystem::path(inputs->folder) / "plan.yaml").string();
  if (!inputs || !add_recorded_rows(registry, inputs->libraries))
    add_libraries_of(registry, plan, path, /*more=*/{});
  std::vector<std::string> gpus;
  std::int64_t capability = 0;
  for (const io::DeviceRow& device : results_of(journal).devices) {
    if (device.gpu_name.empty()) continue;
    gpus.push_back(device.gpu_name);
    capability = capability == 0 ? device.capability : std::min(capability, device.capability);
  }
  MatrixFileCache files;
  std::vector<Trial> trials = shard_of(
      expand_plan(for_gpus(plan, gpus), path, registry, *backend, static_cast<int>(capability), files).trials,
      *shard);
  std::set<std::string> recorded;
  for (const io::Record& record : journal.records) recorded.insert(record.key);
  trials.erase(std::remove_if(trials.begin(), trials.end(),
                              [&](const Trial& trial) { return recorded.count(trial.key) > 0; }),
               trials.end());
  return trials;
}

/// Returns a list of up to `count` trials of a run that have no record, one per line. The last line has the
/// number of further such trials.
std::string missing_text(const std::string& directory, std::size_t count, const Registry& registry) {
  std::string text = fmt::format("\nMissing in {}:\n", one_line_printable(directory));
  try {
    const std::vector<Trial> trials = missing_trials(directory, registry);
    for (std::size_t i = 0; i < std::min(count, trials.size()); ++i)
      text += fmt::format("  {}\n", one_line_printable(describe(trials[i])));
    if (trials.size() > count) text += fmt::format("  and {} more\n", trials.size() - count);
  } catch (const std::runtime_error& e) {
    text += fmt::format("  these trials are unknown: {}\n", one_line_printable(e.what()));
  }
  return text;
}

/// Reads the status of each run.
/// @param repeated receives messages about directories that are left out because another one has the same run
Statuses read_statuses(const StatusOptions& options, std::vector<std::string>& repeated) {
  const std::vector<std::filesystem::path> runs =
      runs_under(options.directories, /*by_journal=*/true, &repeated);
  Statuses statuses;
  std::map<std::string, std::string> directory_of;  // by run id
  for (const std::filesystem::path& directory : runs) {
    SweepStatus status = status_of_directory(directory, options.failures);
    const auto [first, is_new] = directory_of.emplace(status.run_id, directory.string());
    if (is_new || status.run_id.empty()) {
      statuses.all.push_back({directory.string(), std::move(status)});
    } else {
      repeated.push_back(one_line_printable(fmt::format(
          "{} is a copy of the run in {} and is not counted again", directory.string(), first->second)));
    }
  }
  std::vector<PlanPart> parts;
  for (const auto& [directory, status] : statuses.all)
    parts.push_back({directory, status.shard, status.plan_name});
  statuses.incomplete = incomplete_sweeps(parts, options.directories);
  return statuses;
}

/// Returns the full status if there is one sweep, or a table of several sweeps.
std::string text_of(const Statuses& statuses) {
  return statuses.is_one() ? status_text(statuses.all.front().status, output_width())
                           : statuses_text(statuses, output_width());
}

/// Shows the status until no sweep runs any more. Redraws it on a terminal; otherwise prints a line whenever
/// the status has changed.
void watch(const StatusOptions& options) {
  constexpr auto min_pause = std::chrono::seconds(2);  // between two refreshes
  // The pause is at least 4 times the time that reading took, so reading takes at most a fifth of the time.
  constexpr int pause_factor = 4;
  std::string shown;
  std::vector<std::string> repeated;  // not shown here
  while (true) {
    const auto start = std::chrono::steady_clock::now();
    repeated.clear();
    const Statuses now = read_statuses(options, repeated);
    if (output_is_terminal()) {
      redraw(text_of(now), now.any_running() ? "Ctrl-C stops watching, not the sweep." : "");
    } else if (const std::string line = statuses_line(now); line != shown) {
      fmt::print("{}\n", shown = line);
      std::fflush(stdout);
    }
    if (!now.any_running()) return;
    const auto read_time = std::chrono::steady_clock::now() - start;
    std::this_thread::sleep_for(
        std::max<std::chrono::steady_clock::duration>(min_pause, pause_factor * read_time));
  }
}

void print_status(const StatusOptions& options, const Registry& registry) {
  const Format format = parse_format(options.format);
  if (options.watches) {
    if (format != Format::table) throw UsageError("--watch: not with --format json");
    watch(options);
    return;
  }
  std::vector<std::string> repeated;
  const Statuses now = read_statuses(options, repeated);
  for (const std::string& note : repeated) print_stderr(fmt::format("note: {}\n", note));
  if (format == Format::json) {
    fmt::print("{}\n", json_text(now.is_one() ? status_json(now.all.front().status) : statuses_json(now)));
  } else {
    fmt::print("{}", text_of(now));
    for (const auto& [directory, status] : now.all) {
      if (options.missing > 0 && status.done < status.total)
        fmt::print("{}", missing_text(directory, options.missing, registry));
    }
  }
}

}  // namespace

void add_status_command(CLI::App& app, Commands& commands) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* sub =
      app.add_subcommand("status", "Show the progress of sweeps, running or ended; changes nothing");
  sub->add_option("directories", options->directories,
                  "Run directories, or directories that contain them (shards, nightly runs)")
      ->required();
  add_format(*sub, options->format, {"table", "json"});
  allow_integers(
      *sub->add_option("--failures", options->failures, "How many of the last failures to list, per run")
           ->capture_default_str(),
      0, max_rows);
  allow_integers(*sub->add_option("--missing", options->missing,
                                  "How many of the trials without a record to list, per run; not in JSON")
                      ->capture_default_str(),
                 0, max_rows);
  sub->add_flag(
      "--watch", options->watches,
      "Refresh every 2 s until no sweep runs any more; without a terminal, print a line per change");
  sub->callback([options, &commands] { print_status(*options, commands.registry); });
}

}  // namespace gaussweep::driver
