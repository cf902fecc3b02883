/// Computes the status of a sweep (the execution of a plan) from its journal, the file of its records. Shows
/// the status as text or JSON.

#include "driver/summary/sweep_status.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <fmt/format.h>
#include <set>
#include <sys/file.h>

#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/judge/judge.hpp"
#include "driver/plan/shard.hpp"
#include "driver/results/identity.hpp"
#include "driver/summary/summary.hpp"
#include "driver/system/clock.hpp"
#include "io/files/open_file.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

constexpr double max_skew = 5;  // seconds that the clocks of two machines may differ

/// The last start of the sweep, which starts again when it is resumed.
struct LastStart {
  std::size_t note = 0;  ///< index of the start's note in the journal
  Timestamp time;
  double end = io::Record::unknown;  ///< time of the note of its end, or else of its last estimate
  io::note::TimeLeft left;           ///< the last estimate of the time left
  std::set<std::string> vanished;    ///< keys of trials that the plan no longer has
};

/// Returns advice on how to complete a run that did not end. @param provenance what the start of the run
/// recorded about itself
std::string advice_of(const nlohmann::json& provenance) {
  if (provenance.contains("duet")) return "a duet cannot be resumed: run it again into a new directory";
  std::string command = provenance.value("command_line", "");
  if (command.empty()) command = "gaussweep run PLAN -o DIR";
  if (const std::string job = provenance.value("job_id", ""); !job.empty())
    return fmt::format("go on with its job's command and --resume, unless squeue still lists job {}", job);
  const auto ranks = provenance.value("ranks", std::int64_t{1});
  const bool resumes = command.find(" --resume") != std::string::npos;
  return "go on with " + (ranks > 1 ? fmt::format("mpirun -n {} ", ranks) : "") + command +
         (resumes ? "" : " --resume");
}

/// Sets the members of `status` from the journal's notes (its lines that are not records). @return the last
/// start
LastStart read_notes(SweepStatus& status, const std::vector<io::Note>& notes) {
  LastStart start;
  std::string began;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (const auto* run = std::get_if<io::note::Run>(&notes[i])) {
      // `run --refine` writes this note once per step.
      const bool is_step = !run->began.empty() && run->began == began;
      began = run->began;
      status.starts += is_step ? 0 : 1;
      status.plan_name = run->plan_name;
      status.run_id = run->run_id;
      status.advice = advice_of(run->provenance);
      status.total = run->total;
      status.plan_trials = run->provenance.value("plan_trials", std::int64_t{-1});
      status.shard = read_shard(run->shard).value_or(Shard{});
      status.ended = false;
      status.exit_code = -1;
      status.reason.clear();
      start.left = {};
      start.end = io::Record::unknown;
      if (is_step) continue;
      status.started = run->started;
      start.note = i;
      // `started` has whole seconds. `began` is more precise, but may be earlier, because it is taken before
      // MPI starts.
      start.time = {std::max(parse_time(run->started), parse_time(run->began)), run->clock.boot,
                    run->clock.uptime};
    } else if (const auto* left = std::get_if<io::note::TimeLeft>(&notes[i])) {
      start.left = *left;
      start.end = parse_time(left->time);
    } else if (const auto* end = std::get_if<io::note::End>(&notes[i])) {
      status.ended = true;
      status.exit_code = static_cast<int>(end->exit_code);
      status.reason = end->reason;
      start.end = parse_time(end->time);
    } else if (const auto* vanished = std::get_if<io::note::Vanished>(&notes[i])) {
      start.vanished = {vanished->keys.begin(), vanished->keys.end()};
    } else if (const auto* retired = std::get_if<io::note::Retired>(&notes[i])) {
      status.remarks.push_back(fmt::format("rank {} was retired: {}", retired->rank, retired->reason));
    }
  }
  return start;
}

/// Returns for each record if it belongs to the shard (a part of the plan). In the first round of a trial,
/// the record's key determines the shard. In later rounds, it is the shard of the start that wrote the
/// record, if that start had the same number of shards; otherwise the key determines it, too.
std::vector<bool> records_of_shard(const io::JournalContents& journal, const Shard& shard) {
  std::vector<std::optional<Shard>> shards{std::nullopt};  // by the number of notes before a record
  for (const io::Note& note : journal.notes) {
    const auto* run = std::get_if<io::note::Run>(&note);
    shards.push_back(run == nullptr ? shards.back() : read_shard(run->shard));
  }
  std::vector<bool> result;
  for (std::size_t i = 0; i < journal.records.size(); ++i) {
    const io::Record& record = journal.records[i];
    const std::optional<Shard>& writer = shards.at(journal.notes_before[i]);
    result.push_back(record.round > 1 && writer && writer->count == shard.count
                         ? writer->number == shard.number
                         : in_shard(record.key, shard));
  }
  return result;
}

/// Removes all records except the last `count`.
void keep_last(std::vector<io::Record>& records, std::size_t count) {
  if (records.size() > count)
    records.erase(records.begin(), records.end() - static_cast<std::ptrdiff_t>(count));
}

/// The first and last wall-clock times of the records since the last start, as text that sorts by time.
struct Span {
  std::string_view first, last;
};

/// Sets `trials_per_second`.
void set_rate(SweepStatus& status, const LastStart& last_start, const Span& span, const Timestamp& now) {
  const Timestamp& start = last_start.time;
  if (std::isnan(start.seconds) || status.since_start == 0) return;
  const double first = parse_time(std::string(span.first)), last = parse_time(std::string(span.last));
  // A run that was killed has no recorded end, so its duration is up to the last recorded time.
  double duration = (status.running ? now.seconds : std::max(last, last_start.end)) - start.seconds;
  if (status.running && !start.boot.empty() && start.boot == now.boot) {
    duration = now.uptime - start.uptime;
  } else if (first < start.seconds - max_skew || last > start.seconds + duration + max_skew) {
    status.remarks.emplace_back("the clock was set back during the run, so the rate is unknown");
    return;
  }
  if (!(duration >= 1)) return;  // too short for a rate, because the start is known to the second only
  status.trials_per_second = static_cast<double>(status.since_start) / duration;
}

/// Returns the recorded estimate of the time left, minus the time since it was recorded. Returns nothing if
/// less than half a second would be left.
std::optional<TimeRange> time_left(const io::note::TimeLeft& estimate, double now) {
  const double since = std::max(0.0, now - parse_time(estimate.time));
  if (std::isnan(estimate.high) || std::isnan(since)) return std::nullopt;
  const auto left = [since](double seconds) { return std::max(0.0, seconds - since); };
  const TimeRange range{left(estimate.low), left(estimate.likely), left(estimate.high)};
  return range.rounds_to_zero() ? std::nullopt : std::optional(range);
}

}  // namespace

bool is_locked(const std::filesystem::path& lock) {
  const io::Opened opened = io::open_regular(lock);
  if (!opened) return false;
  // The shared lock is released immediately. A run that starts at this moment fails to get the lock, but
  // retries for some seconds.
  return flock(opened.file.fd(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

SweepStatus status_of(const io::JournalContents& journal, bool running, const Timestamp& now,
                      std::size_t max_failures) {
  SweepStatus status;
  status.running = running;
  const LastStart start = read_notes(status, journal.notes);
  Span span;
  std::vector<const io::Record*> all, recent;
  const std::vector<bool> is_of_shard = records_of_shard(journal, status.shard);
  for (std::size_t i = 0; i < journal.records.size(); ++i) {
    const io::Record& record = journal.records[i];
    if (start.vanished.count(record.key) != 0) {
      ++status.vanished;
      continue;
    }
    all.push_back(&record);
    std::int64_t& count = is_of_shard[i] ? status.done : status.of_other_shards;
    ++count;
    if (record.is_temporary_failure && is_of_shard[i]) ++status.temporary_failures;
    ++status.counts[record.status];
    if (journal.notes_before[i] > start.note && record.status != io::Status::skipped) {
      ++status.since_start;
      recent.push_back(&record);
      if (status.since_start == 1 || record.start_time < span.first) span.first = record.start_time;
      // Records of older versions have no end time.
      span.last = std::max<std::string_view>(span.last,
                                             record.end_time.empty() ? record.start_time : record.end_time);
    }
    if (is_expected_failure(record)) ++status.findings[record.status];
    if (is_unexpected(record)) {
      ++status.unexpected;
      status.failures.push_back(record);
      // The list is shortened during the loop, because a run may have a hundred thousand failures.
      if (status.failures.size() > 2 * max_failures + 64) keep_last(status.failures, max_failures);
    }
  }
  keep_last(status.failures, max_failures);
  status.devices = use_of_devices(recent);
  if (!status.failures.empty()) status.names = TrialColumns(all, Reader::person);
  set_rate(status, start, span, now);
  if (running && status.total > status.done) status.seconds_left = time_left(start.left, now.seconds);
  const std::string builds = mixed_builds(journal.records);
  if (!builds.empty()) status.remarks.push_back(builds);
  // While a sweep is running, its last line may be partly written; this is normal.
  if (journal.torn && !running)
    status.remarks.emplace_back("the journal's last line is incomplete and does not count");
  if (journal.damaged > 0) {
    const std::string first = io::first_damage(journal);
    status.remarks.push_back(fmt::format("not counted: {} of the journal{}",
                                         counted(journal.damaged, "damaged line"),
                                         first.empty() ? "" : " (" + first + ")"));
  }
  return status;
}

namespace {

const char* state_of(const SweepStatus& status) {
  if (status.running) return "running";
  if (status.ended || !status.reason.empty()) return "ended";
  return status.starts == 0 ? "start not recorded" : "killed";
}

std::string progress_text(std::int64_t done, std::int64_t total) {
  if (total <= 0) return fmt::to_string(done);
  return fmt::format("{} of {} ({:.1f}%)", done, total,
                     100.0 * static_cast<double>(done) / static_cast<double>(total));
}

/// Returns true if a sweep runs and has no estimate of its time left.
bool is_left_unknown(const SweepStatus& status) {
  return status.running && !status.seconds_left && (status.total < 0 || status.total > status.done);
}

/// Adds up all sweeps. The sum's `total` leaves out missing shards; it is unknown (-1) if the total of a
/// sweep is. The time left is that of the sweep with the most time left.
SweepStatus sum_of(const std::vector<NamedStatus>& all) {
  SweepStatus sum;
  sum.total = 0;
  for (const auto& [directory, status] : all) {
    sum.running = sum.running || status.running;
    sum.total = sum.total < 0 || status.total < 0 ? -1 : sum.total + status.total;
    sum.done += status.done;
    sum.unexpected += status.unexpected;
    for (const auto& [word, count] : status.counts) sum.counts[word] += count;
    for (const auto& [word, count] : status.findings) sum.findings[word] += count;
    if (status.seconds_left && (!sum.seconds_left || status.seconds_left->likely > sum.seconds_left->likely))
      sum.seconds_left = status.seconds_left;
  }
  return sum;
}

/// Returns a table of the last failures of all sweeps, newest last.
Table failures_of(const std::vector<NamedStatus>& all) {
  std::vector<const io::Record*> records;
  for (const auto& [directory, status] : all) {
    for (const io::Record& record : status.failures) records.push_back(&record);
  }
  const TrialColumns names(records, Reader::person);
  Table table = names.table();
  table.columns.insert(table.columns.begin(), Column{"directory", "DIRECTORY"});
  ++table.key_columns;
  extend(table.columns, {{"status", "STATUS"}, {"message", "CAUSE"}});
  for (const auto& [directory, status] : all) {
    for (const io::Record& r : status.failures) {
      std::vector<Cell>& row = table.rows.emplace_back(names.cells(r));
      row.insert(row.begin(), directory);
      extend(row, {r.status, r.message});
    }
  }
  return table;
}

}  // namespace

bool Statuses::any_running() const {
  return std::any_of(all.begin(), all.end(), [](const NamedStatus& each) { return each.status.running; });
}

std::int64_t Statuses::total() const {
  std::int64_t sum = sum_of(all).total;
  if (sum < 0) return -1;
  for (const IncompleteSweep& sweep : incomplete) {
    std::set<std::int64_t> numbers, plan_trials;
    for (const std::size_t part : sweep.parts) {
      const SweepStatus& status = all[part].status;
      numbers.insert(status.shard.number);
      plan_trials.insert(status.plan_trials);
      sum -= status.total;
    }
    // A shard that ran twice counts twice among the trials done, so their number cannot be compared.
    const bool is_known = numbers.size() == sweep.parts.size() && plan_trials.size() == 1;
    if (!is_known || *plan_trials.begin() < 0) return -1;
    sum += *plan_trials.begin();
  }
  return sum;
}

std::string statuses_text(const Statuses& statuses, std::size_t width) {
  const std::vector<NamedStatus>& all = statuses.all;
  Table table;
  table.columns = {{"directory", "DIRECTORY"}, {"plan", "PLAN"}, {"state", "STATE"},
                   {"done", "DONE"},           {"left", "LEFT"}, {"unexpected", "NOT AS EXPECTED"},
                   {"status", "STATUS"}};
  for (const auto& [directory, status] : all) {
    std::string state = state_of(status);
    if (status.ended && status.exit_code != 0) state += fmt::format(" with exit code {}", status.exit_code);
    table.rows.push_back({directory, status.plan_name, state, progress_text(status.done, status.total),
                          status.seconds_left ? range_text(*status.seconds_left) : std::string(),
                          status.unexpected, status_counts_text(status.counts)});
  }
  table.droppable = {"status"};
  const SweepStatus sum = sum_of(all);
  std::string text = render_text(table, width);
  text += fmt::format("\nAll:     {}\n", statuses_line(statuses));
  if (!sum.counts.empty()) text += fmt::format("Status:  {}\n", status_counts_text(sum.counts));
  if (!sum.findings.empty()) text += fmt::format("Expected failures: {}\n", status_counts_text(sum.findings));
  for (const auto& [directory, status] : all) {
    if (!status.ended && !status.reason.empty())
      text += fmt::format("Note:    {}: ended: {}\n", one_line_printable(directory),
                          one_line_printable(status.reason));
    for (const std::string& remark : status.remarks)
      text += fmt::format("Note:    {}: {}\n", one_line_printable(directory), one_line_printable(remark));
  }
  for (const IncompleteSweep& sweep : statuses.incomplete)
    for (const std::string& what : sweep.missing) text += fmt::format("Note:    {}\n", what);
  if (const Table failures = failures_of(all); !failures.rows.empty()) {
    const bool is_shortened = failures.rows.size() < static_cast<std::size_t>(sum.unexpected);
    text += fmt::format("\nNot as expected ({}{}):\n", sum.unexpected,
                        is_shortened ? fmt::format(", {} of them listed", failures.rows.size()) : "") +
            render_text(failures, width);
  }
  return text;
}

nlohmann::ordered_json statuses_json(const Statuses& statuses) {
  const SweepStatus sum = sum_of(statuses.all);
  nlohmann::ordered_json out;
  out["running"] = sum.running;
  const std::int64_t total = statuses.total();
  out["total"] = total < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(total);
  out["done"] = sum.done;
  out["unexpected"] = sum.unexpected;
  out["directories"] = nlohmann::ordered_json::array();
  for (const auto& [directory, status] : statuses.all) {
    nlohmann::ordered_json one;
    one["directory"] = directory;
    one.update(status_json(status));
    out["directories"].push_back(std::move(one));
  }
  out["missing"] = nlohmann::ordered_json::array();
  for (const IncompleteSweep& sweep : statuses.incomplete)
    for (const std::string& what : sweep.missing) out["missing"].push_back(what);
  return out;
}

std::string statuses_line(const Statuses& statuses) {
  const std::vector<NamedStatus>& all = statuses.all;
  const SweepStatus sum = sum_of(all);
  const std::int64_t total = statuses.total();
  std::string text = total < 0 && sum.total > 0 ? fmt::format("{} of at least {}", sum.done, sum.total)
                                                : progress_text(sum.done, total);
  const auto running =
      std::count_if(all.begin(), all.end(), [](const NamedStatus& n) { return n.status.running; });
  text += statuses.is_one() ? fmt::format(", {}", state_of(all.front().status))
                            : fmt::format(", {} of {} running", running, all.size());
  std::size_t missing = 0;
  for (const IncompleteSweep& sweep : statuses.incomplete) missing += sweep.missing.size();
  if (missing > 0) text += fmt::format(", {} missing", counted(missing, "shard"));
  if (sum.unexpected > 0) text += fmt::format(", {} not as expected", sum.unexpected);
  // The time that missing shards need is unknown.
  if (missing > 0) return text;
  if (std::any_of(all.begin(), all.end(), [](const NamedStatus& n) { return is_left_unknown(n.status); })) {
    text += sum.seconds_left && sum.seconds_left->low >= 1
                ? fmt::format(", at least {} left", duration_text(sum.seconds_left->low))
                : std::string(", time left unknown yet");
  } else if (sum.seconds_left) {
    text += fmt::format(", {} left", range_text(*sum.seconds_left));
  }
  return text;
}

nlohmann::ordered_json status_json(const SweepStatus& status) {
  nlohmann::ordered_json out;
  out["plan_name"] = status.plan_name;
  out["run_id"] = status.run_id;
  out["state"] = state_of(status);
  out["running"] = status.running;
  out["starts"] = status.starts;
  out["started"] = status.started;
  out["total"] = status.total < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(status.total);
  out["done"] = status.done;
  out["for_now"] = status.temporary_failures;
  out["vanished"] = status.vanished;
  out["elsewhere"] = status.of_other_shards;
  out["counts"] = nlohmann::ordered_json::object();
  for (const auto& [name, count] : status.counts) out["counts"][name] = count;
  out["exit_code"] =
      status.exit_code < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(status.exit_code);
  out["reason"] = status.reason;
  out["trials_per_second"] = number_json(status.trials_per_second);
  const TimeRange left =
      status.seconds_left.value_or(TimeRange{io::Record::unknown, io::Record::unknown, io::Record::unknown});
  out["seconds_left"] = number_json(left.likely);
  out["seconds_left_low"] = number_json(left.low);
  out["seconds_left_high"] = number_json(left.high);
  out["unexpected"] = status.unexpected;
  out["findings"] = nlohmann::ordered_json::object();
  for (const auto& [name, count] : status.findings) out["findings"][name] = count;
  out["failures"] = nlohmann::ordered_json::array();
  for (const io::Record& r : status.failures) {
    out["failures"].push_back({{"key", r.key},
                               {"problem", r.problem},
                               {"method", r.method},
                               {"backend", r.backend},
                               {"precision", r.precision},
                               {"m", r.m},
                               {"n", r.n},
                               {"k", r.k},
                               {"nrhs", r.nrhs},
                               {"batch", r.batch},
                               {"uplo", r.uplo},
                               {"parameters", r.parameters},
                               {"matrix", matrix_label(r)},
                               {"matrix_parameters", r.matrix_parameters},
                               {"matrix_seed", r.matrix_seed},
                               {"status", r.status},
                               {"expected", r.expected},
                               {"message", r.message}});
  }
  out["devices"] = render_json(device_use_table(status.devices));
  out["remarks"] = status.remarks;
  return out;
}

std::string status_text(const SweepStatus& status, std::size_t width) {
  std::string text = fmt::format("Plan:    {}\n",
                                 status.plan_name.empty() ? "unknown" : one_line_printable(status.plan_name));
  std::string state;
  if (status.running) {
    state = status.starts > 0 ? "running" : "just started; nothing is recorded yet";
  } else if (status.ended) {
    state = fmt::format("ended with exit code {}", status.exit_code);
    if (!status.reason.empty()) state += fmt::format(" ({})", one_line_printable(status.reason));
    if (status.exit_code == exit_stopped) state += "; " + one_line_printable(status.advice);
  } else {
    if (!status.reason.empty()) {
      state = "ended: " + one_line_printable(status.reason);
    } else if (status.starts == 0) {
      state = "its start is not recorded, for example because the disk was full";
    } else {
      state = "its end is not recorded (it was killed, or its disk was full)";
    }
    state += "; " + one_line_printable(status.advice);
  }
  text += fmt::format("State:   {}\n", state);
  if (!status.started.empty()) {
    text += fmt::format("Started: {}{}\n", one_line_printable(status.started),
                        status.starts > 1 ? fmt::format(" (start number {})", status.starts) : "");
  }
  text += fmt::format("Done:    {}", progress_text(status.done, status.total));
  if (status.of_other_shards > 0) text += fmt::format(", and {} of other shards", status.of_other_shards);
  if (status.vanished > 0) text += fmt::format(", and {} no longer in the plan", status.vanished);
  text += "\n";
  if (!std::isnan(status.trials_per_second))
    text += fmt::format("Rate:    {:.3g} trials per second\n", status.trials_per_second);
  if (status.seconds_left) {
    text += fmt::format("Left:    {}\n", range_text(*status.seconds_left));
  } else if (status.running && status.total > status.done) {
    text += "Left:    unknown yet\n";
  }
  const std::string words = status_counts_text(status.counts), findings = status_counts_text(status.findings);
  if (!words.empty()) text += fmt::format("Status:  {}\n", words);
  if (!findings.empty()) text += fmt::format("Expected failures: {}\n", findings);
  if (!status.devices.empty())
    text += fmt::format("\n{}{}\n", status.starts > 1 ? "Devices since the last start:\n" : "",
                        render_text(device_use_table(status.devices), width));
  for (const std::string& remark : status.remarks)
    text += fmt::format("Note:    {}\n", one_line_printable(remark));
  if (!status.failures.empty()) {
    Table table = status.names.table(pointers_to(status.failures));
    extend(table.columns, {{"status", "STATUS"}, {"message", "CAUSE"}});
    for (const io::Record& r : status.failures)
      extend(table.rows.emplace_back(status.names.cells(r)), {r.status, r.message});
    const bool is_shortened = status.failures.size() < static_cast<std::size_t>(status.unexpected);
    text += fmt::format("\nNot as expected ({}{}):\n", status.unexpected,
                        is_shortened ? fmt::format(", the last {}", status.failures.size()) : "") +
            render_text(table, width);
  }
  return text;
}

}  // namespace gaussweep::driver
