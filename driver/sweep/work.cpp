/// Selects the trials (one method on one matrix each) that a started or resumed run still has to do, and
/// counts how they ended.

#include "driver/sweep/work.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <spdlog/spdlog.h>
#include <unordered_map>
#include <unordered_set>

#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/judge/judge.hpp"
#include "driver/judge/verify.hpp"
#include "driver/protocol/trial_record.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/process.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

using RecordsByKey = std::unordered_map<std::string, const io::Record*>;

/// Returns the journal's records by the keys of their trials.
RecordsByKey by_key(const io::JournalContents& journal) {
  RecordsByKey records;
  for (const io::Record& record : journal.records) records[record.key] = &record;
  return records;
}

/// Returns true if a recorded trial has to run again.
bool must_repeat(const Trial& trial, const io::Record& record, bool retry_failed) {
  if (record.is_temporary_failure) return true;  // the failure's cause may have been temporary
  // The run that skipped the trial may have used another machine or build.
  if (record.status == io::Status::skipped) return trial.skip_reason.empty();
  return retry_failed && (is_broken(record.status) || !as_expected(trial, record.status));
}

std::string method_id(const Trial& trial) {
  return fmt::format("{}/{}", to_string(trial.problem), trial.method);
}

/// The number of skipped trials of each method, and the reason of the first.
using SkippedByMethod = std::map<std::string, std::pair<std::size_t, std::string>>;

void count_skipped(SkippedByMethod& skipped, const Trial& trial, const std::string& reason) {
  ++skipped.try_emplace(method_id(trial), 0, reason).first->second.first;
}

/// Returns a line for each of the first methods, and one with the number of the others.
std::vector<std::string> skipped_lines(const SkippedByMethod& skipped) {
  constexpr std::size_t max_named = 5;
  std::vector<std::string> lines;
  for (const auto& [method, entry] : skipped) {
    if (lines.size() == max_named) {
      lines.push_back(
          fmt::format("and {} with skipped trials", counted(skipped.size() - max_named, "more method")));
      break;
    }
    lines.push_back(fmt::format("{}: {} skipped, {}", one_line_printable(method),
                                counted(entry.first, "trial"), one_line_printable(entry.second)));
  }
  return lines;
}

/// Returns the command that submitted this batch job, or an empty text.
std::string submission() {
  return environment_value("GAUSSWEEP_SUBMITTED_BY");
}

}  // namespace

Work plan_work(const RunOptions& options, std::vector<Trial> trials, const io::JournalContents& journal) {
  const RecordsByKey records = by_key(journal);
  Work work;
  work.plan_trials = trials.size();
  work.all = shard_of(std::move(trials), options.shard);
  for (const Trial& trial : work.all) {
    const auto found = records.find(trial.key);
    if (found == records.end() || must_repeat(trial, *found->second, options.retry_failed))
      work.todo.push_back(trial);
  }
  return work;
}

void judge_records_again(RunDirectory& directory, const std::vector<Trial>& trials) {
  const RecordsByKey records = by_key(directory.journal());
  std::vector<io::Record> changed;
  std::size_t rejudged_count = 0;
  std::map<std::string, std::size_t> changes;
  for (const Trial& trial : trials) {
    const auto found = records.find(trial.key);
    if (found == records.end()) continue;
    const io::Record& known = *found->second;
    io::Record record = known;
    const bool is_rejudged = known.tolerance != trial.tolerance && judge_again(record, trial.tolerance);
    record.expected = as_expected(trial, record.status) ? 1 : 0;
    if (!is_rejudged && record.expected == known.expected) continue;
    rejudged_count += is_rejudged ? 1 : 0;
    if (record.status != known.status) ++changes[known.status + " is now " + record.status];
    changed.push_back(std::move(record));
  }
  for (const io::Record& record : changed) directory.append(record);
  if (rejudged_count == 0) return;
  std::string change_list;
  for (const auto& [change, count] : changes) change_list += fmt::format("; {} of them: {}", count, change);
  spdlog::warn("judged again, by the tolerance that the plan has now: {}{}",
               counted(rejudged_count, "record"), changes.empty() ? "; no status changed" : change_list);
}

void note_unplanned(RunDirectory& directory, const std::vector<Trial>& trials) {
  std::unordered_set<std::string> planned;
  std::map<std::pair<std::string, std::string>, std::string> digests;  // by problem and method of a library
  for (const Trial& trial : trials) {
    planned.insert(trial.key);
    if (!trial.library_digest.empty())
      digests[{std::string(to_string(trial.problem)), trial.method}] = trial.library_digest;
  }
  std::vector<std::string> keys;
  std::map<std::string, std::size_t> by_library;  // records of another version of a library
  for (const io::Record& record : directory.journal().records) {
    if (planned.count(record.key) > 0) continue;
    keys.push_back(record.key);
    const auto digest = digests.find({record.problem, record.method});
    if (digest != digests.end() && !record.library.empty() && digest->second != record.library_digest)
      ++by_library[record.library];
  }
  // A note without keys is needed too: it replaces the note of an earlier start of this run.
  if (keys.empty() && directory.journal().records.empty()) return;
  directory.note(io::note::Vanished{keys});
  std::string causes;
  for (const auto& [library, count] : by_library)
    causes += fmt::format("{}{} from another version of {}", causes.empty() ? "; " : ", ", count,
                          one_line_printable(library));
  if (!keys.empty())
    spdlog::warn("no longer in the plan: {}; kept{}", counted(keys.size(), "record"), causes);
}

void record_skipped(RunDirectory& directory, Work& work, const Registry& registry) {
  const Origin origin = this_origin(directory.run_id());
  std::vector<Trial> rest;
  for (Trial& trial : work.todo) {
    if (trial.skip_reason.empty()) {
      rest.push_back(std::move(trial));
      continue;
    }
    io::Record record = blank_record(trial, registry.find(trial.problem, trial.method), origin);
    record.status = name_of(io::Status::skipped);
    record.message = trial.skip_reason;
    record.expected = 1;
    record.end_time = fine_time_stamp();
    directory.append(record);
  }
  work.todo = std::move(rest);
}

std::vector<std::string> skipped_methods(const std::vector<Trial>& trials) {
  std::set<std::pair<std::string, Precision>> running;
  for (const Trial& trial : trials) {
    if (trial.skip_reason.empty()) running.emplace(method_id(trial), trial.precision);
  }
  SkippedByMethod skipped;
  for (const Trial& trial : trials) {
    if (running.count({method_id(trial), trial.precision}) == 0)
      count_skipped(skipped, trial, trial.skip_reason);
  }
  return skipped_lines(skipped);
}

std::vector<std::string> skipped_in_run(const Work& work, const io::JournalContents& journal) {
  const RecordsByKey records = by_key(journal);
  SkippedByMethod skipped;
  for (const Trial& trial : work.all) {
    const auto found = records.find(trial.key);
    if (found != records.end() && found->second->status == io::Status::skipped && trial.skip_reason.empty())
      count_skipped(skipped, trial, found->second->message);
  }
  return skipped_lines(skipped);
}

std::vector<std::string> unexpected_before(const Work& work, const io::JournalContents& journal) {
  RecordsByKey records = by_key(journal);
  for (const Trial& trial : work.todo) records.erase(trial.key);
  std::vector<std::string> statuses;
  for (const Trial& trial : work.all) {
    const auto found = records.find(trial.key);
    if (found != records.end() && !as_expected(trial, found->second->status))
      statuses.push_back(found->second->status);
  }
  return statuses;
}

Outcome outcome_of(const Work& work, const io::JournalContents& journal) {
  const RecordsByKey records = by_key(journal);
  Outcome outcome;
  for (const Trial& trial : work.all) {
    const auto found = records.find(trial.key);
    if (found == records.end()) {
      ++outcome.missing;
    } else if (!as_expected(trial, found->second->status)) {
      std::size_t& count = is_broken(found->second->status) ? outcome.broken : outcome.wrong;
      ++count;
    }
  }
  return outcome;
}

int exit_code_of(const Outcome& outcome, bool lost_its_ranks) {
  if (outcome.missing > 0) return lost_its_ranks ? exit_broken : exit_stopped;
  if (outcome.broken > 0) return exit_broken;
  return outcome.wrong > 0 ? exit_wrong : exit_ok;
}

std::string exit_text(int code, const Outcome& outcome) {
  std::vector<std::string> reasons;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) reasons.push_back(fmt::format("{} {}", counted(count, "trial"), what));
  };
  add(outcome.wrong, "did not end as expected");
  add(outcome.broken, "crashed, timed out or could not run");
  add(outcome.missing, "did not run");
  if (reasons.empty()) reasons.emplace_back("a rank was lost");
  return fmt::format("exit code {}: {}", code, fmt::join(reasons, ", "));
}

std::vector<std::string> failed_before(const Work& work, const io::JournalContents& journal) {
  const RecordsByKey records = by_key(journal);
  std::vector<std::string> keys;
  for (const Trial& trial : work.todo) {
    const auto found = records.find(trial.key);
    if (found == records.end()) continue;
    const std::string& status = found->second->status;
    if (status != io::Status::pass && status != io::Status::skipped) keys.push_back(trial.key);
  }
  return keys;
}

void log_repaired(const std::vector<std::string>& failed, const io::JournalContents& journal) {
  const RecordsByKey records = by_key(journal);
  const auto passes = [&](const std::string& key) { return records.at(key)->status == io::Status::pass; };
  const auto repaired = static_cast<std::size_t>(std::count_if(failed.begin(), failed.end(), passes));
  if (repaired > 0)
    spdlog::info("repaired: {} that failed before {} now", counted(repaired, "trial"),
                 repaired == 1 ? "passes" : "pass");
}

std::string resume_advice(const RunOptions& options, const std::string& launcher) {
  return fmt::format("{}go on with: {}", submission().empty() ? "" : "if Slurm does not requeue the job, ",
                     resume_command(options, launcher, "--resume"));
}

std::string resume_command(const RunOptions& options, const std::string& launcher, const char* option) {
  std::string submitted = submission();
  if (!submitted.empty())  // sbatch's options follow " -- "
    return submitted.insert(std::min(submitted.find(" -- "), submitted.size()), fmt::format(" {}", option));
  std::string others;
  if (options.backend != "auto") others += " --backend " + options.backend;
  for (const std::string& library : options.libraries) others += " --methods " + shell_quoted(library);
  if (options.gpus_per_rank > 1) others += fmt::format(" --gpus-per-rank {}", options.gpus_per_rank);
  if (!options.store_limit.empty()) others += " --store-limit " + options.store_limit;
  if (!options.time_limit_text.empty()) others += " --time-limit " + options.time_limit_text;
  if (options.grace != RunOptions().grace) others += fmt::format(" --grace {}", options.grace);
  if (options.next_plan) others += " --refine";
  if (options.shard.count > 1)
    others += fmt::format(" --shard {}/{}", options.shard.number, options.shard.count);
  return fmt::format("{}{} run {} -o {}{} {}", launcher, shell_quoted(options.program),
                     shell_quoted(options.plan), shell_quoted(options.output), others, option);
}

void log_unexpected(const Work& work, const io::JournalContents& journal, const RunOptions& options,
                    const std::string& retry_command) {
  constexpr std::size_t max_named = 5;
  const RecordsByKey records = by_key(journal);
  std::size_t unexpected = 0, expected_failures = 0;
  std::string names;
  for (const Trial& trial : work.all) {
    const auto found = records.find(trial.key);
    if (found == records.end()) continue;
    const io::Record& record = *found->second;
    expected_failures += is_expected_failure(record) ? 1 : 0;
    if (as_expected(trial, record.status) || ++unexpected > max_named) continue;
    names +=
        fmt::format("\n  {}: {}{}{}", one_line_printable(describe(trial)), one_line_printable(record.status),
                    record.message.empty() ? "" : ", ", one_line_printable(record.message));
  }
  if (expected_failures > 0 && options.is_kept) {
    spdlog::info("{} ({} summary {} --failures)", counted(expected_failures, "expected failure"),
                 shell_quoted(options.program), shell_quoted(options.output));
  }
  if (unexpected == 0 || !options.lists_unexpected) return;
  if (unexpected > max_named) names += fmt::format("\n  and {} more", unexpected - max_named);
  std::string next;
  if (options.is_kept)
    next = fmt::format("\nall of them: {} summary {} --failures\nonce more: {}",
                       shell_quoted(options.program), shell_quoted(options.output), retry_command);
  spdlog::warn("{} did not end as {}:{}{}", counted(unexpected, "trial"),
               options.is_kept ? "the plan expects" : "expected", names, next);
}

}  // namespace gaussweep::driver
