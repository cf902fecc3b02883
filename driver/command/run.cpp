/// `gaussweep run`: runs a plan's trials on all ranks.

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/words.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/option_checks.hpp"
#include "driver/compare/compare.hpp"
#include "driver/compare/compare_sets.hpp"
#include "driver/plan/plan_words.hpp"
#include "driver/plan/shard.hpp"
#include "driver/plan/time_limit.hpp"
#include "driver/results/journal_results.hpp"
#include "driver/results/loading.hpp"
#include "driver/summary/verdict_grid.hpp"
#include "driver/sweep/session.hpp"
#include "driver/system/process.hpp"
#include "io/files/errors.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_sentences = 4;

io::note::Run last_start(const io::JournalContents& journal) {
  io::note::Run last;
  for (const io::Note& note : journal.notes) {
    if (const auto* run = std::get_if<io::note::Run>(&note)) last = *run;
  }
  return last;
}

/// Returns run directories near `run` that may hold earlier runs of the same plan, newest first.
std::vector<fs::path> neighbours(const fs::path& run) {
  std::error_code error;
  const fs::path self = fs::weakly_canonical(run, error);
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  const auto add_if_run = [&](const fs::path& folder) {
    const auto time = fs::last_write_time(folder / "journal.jsonl", error);
    if (!error && folder != self) found.emplace_back(time, folder);
  };
  const fs::path parent = self.parent_path();
  for (const auto& each : fs::directory_iterator(parent, error)) add_if_run(each.path());
  for (const auto& each : fs::directory_iterator(parent.parent_path(), error)) {
    if (each.path() != parent) add_if_run(each.path() / self.filename());
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> folders;
  for (auto& [time, folder] : found) folders.push_back(std::move(folder));
  return folders;
}

/// Returns the name of a run's plan; empty if the plan cannot be read, for example because another version
/// wrote it.
std::string plan_name_in(const fs::path& run) {
  try {
    return io::read_plan((run / "plan.yaml").string(), enum_names<Problem>()).name;
  } catch (const std::runtime_error&) {
    return {};
  }
}

/// Returns one sentence per race if there are few races, otherwise the number of wins per method.
std::string winners_words(const std::vector<VerdictGrid>& grids) {
  std::size_t races = 0;
  for (const VerdictGrid& grid : grids) {
    for (const VerdictRow& row : grid.rows) races += row.cells.size();
  }
  if (races == 0) return {};
  if (races <= max_sentences) {
    std::string text = verdict_sentences(grids);
    text.pop_back();
    return text;
  }
  std::string text;
  for (const VerdictGrid& grid : grids) {
    std::map<std::string, std::size_t> wins;
    std::size_t all = 0, ties = 0;
    for (const VerdictRow& row : grid.rows) {
      for (const auto& [n, cell] : row.cells) {
        ++all;
        if (cell.tie) {
          ++ties;
          continue;
        }
        ++wins[cell.winner == nullptr ? "" : row.problem + "/" + cell.winner->first().method];
      }
    }
    std::vector<std::pair<std::size_t, std::string>> order;
    for (const auto& [method, count] : wins) order.emplace_back(count, method);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    text +=
        fmt::format("{}Fastest on {}, of {} cases:", text.empty() ? "" : "\n", printable(grid.device), all);
    const char* comma = " ";
    for (const auto& [count, method] : order) {
      text += fmt::format("{}{} {}", comma, method.empty() ? "nothing passed" : printable(method), count);
      comma = ", ";
    }
    if (ties > 0) text += fmt::format("{}{}", comma, counted(ties, "tie"));
  }
  return text;
}

/// Compares a run with an earlier one. Returns an empty text if they share no trial on the same GPU and CPU
/// models.
std::string changes_words(const std::string& program, const std::string& run, const std::string& base,
                          io::Results before, const io::Results& now) {
  keep_models_of(now, before);
  CompareRules rules;
  rules.same_places = true;
  const Comparison comparison = compare(before, now, rules);
  if (comparison.pairs.empty()) return {};
  std::string text =
      fmt::format("Since {}: {}. {}", printable(base), count_words(comparison), regression_words(comparison));
  for (const std::string& sentence : unclear_words(comparison)) text += " " + printable(sentence);
  return text + fmt::format("\n  {} compare {} {} --same-models", shell_word(program), shell_word(base),
                            shell_word(run));
}

/// Compares a run with the newest earlier run of the same plan and shard. For `runs/b` all of `runs/*` are
/// searched; for dated nights (`nights/DATE/sweep`) also those with the same name. Runs on other GPU or CPU
/// models are skipped. Returns an empty text if there is no such run, and the error if one cannot be read.
std::string since_words(const std::string& program, const std::string& run,
                        const io::JournalContents& journal, const io::Results& now) {
  const io::note::Run own = last_start(journal);
  for (const fs::path& other : neighbours(run)) {
    if (plan_name_in(other) != own.plan_name) continue;
    const std::string base = (fs::path(run).is_absolute() ? other : fs::proximate(other)).string();
    try {
      const io::JournalContents before = io::read_journal(other / "journal.jsonl");
      if (last_start(before).shard != own.shard) continue;
      std::string words = changes_words(program, run, base, results_of(before), now);
      if (!words.empty()) return words;
    } catch (const std::runtime_error& e) {
      return fmt::format("Not compared with {}: {}", printable(base), printable(e.what()));
    }
  }
  return {};
}

/// Returns the text at the end of `run`: winners, changes since the last run of the plan, commands to
/// continue. No line feed at the end.
/// @param program, run as the user typed them, for the commands
std::string run_end_words(const std::string& program, const std::string& run,
                          const io::JournalContents& journal) {
  const io::Results now = results_of(journal);
  std::string text = winners_words(verdict_grids(now.records, now.devices, now.hosts));
  const auto add = [&](const std::string& words) {
    if (!words.empty()) text += (text.empty() ? "" : "\n") + words;
  };
  add(since_words(program, run, journal, now));
  add(fmt::format("Next: {0} summary {1} --best --by gpu, or {0} report {1} -o report", shell_word(program),
                  shell_word(run)));
  return text;
}

constexpr double max_grace = 1e9;  // seconds; no job waits longer

/// Parses "I/N" with 1 <= I <= N.
void parse_shard(const std::string& text, RunOptions& options) {
  const std::optional<Shard> shard = read_shard(text);
  if (shard) {
    options.shard = *shard;
    return;
  }
  throw UsageError(fmt::format("--shard {}: give I/N with 1 <= I <= N, e.g. 2/4", text));
}

/// Returns true if the launcher's variables say that this process is not rank 0.
bool is_other_rank() {
  for (const char* mark : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    const std::string rank = environment_value(mark);
    if (!rank.empty()) return rank != "0";
  }
  return false;
}

/// Returns an error if a resume would lose records because results.h5, which is rebuilt from the journal, has
/// records that the journal lacks. Empty if none would be lost.
/// @pre MPI is not initialised, because results.h5 is read in a child process
std::string loss_by_resume(const fs::path& run) {
  const fs::path journal = run / "journal.jsonl", results = run / "results.h5";
  io::JournalContents contents;
  std::size_t lost = 0;
  try {
    lost = records_only_in(results, [&]() -> const std::vector<io::Record>& {
      contents = io::read_journal(journal, false);
      return contents.records;
    });
  } catch (const std::runtime_error&) {
    return {};  // the run itself reports the journal's error
  }
  // A torn last line is dropped, and its trial runs again.
  if (lost == 0 || (lost == 1 && contents.torn)) return {};
  std::error_code error;
  const std::string damage = io::first_damage(contents);
  return fmt::format(
      "-o {}: results.h5 has {} that journal.jsonl lacks ({}). They would be lost, because results.h5 is "
      "made "
      "from the journal. Put the whole journal back, or move results.h5 elsewhere; merge joins it with later "
      "ones",
      run.string(), counted(lost, "record"),
      !fs::exists(journal, error) ? "it is gone"
      : damage.empty()            ? fmt::format("it has {}", counted(contents.records.size(), "record"))
                                  : damage);
}

/// Checks --store-limit before anything begins. @throws UsageError
void check_store_limit(const std::string& text) {
  try {
    io::parse_bytes({text, {}}, "");
  } catch (const io::InputError&) {
    throw UsageError(
        fmt::format("--store-limit {}: give 50GiB, 512MiB, 64KiB, 1TiB, a number of bytes, or none", text));
  }
}

}  // namespace

void add_run_command(CLI::App& app, Commands& commands) {
  CLI::App* run = app.add_subcommand("run", "Run a plan's trials; under mpirun, spread over its ranks");
  struct Words {
    RunOptions options;
    std::string time_limit, shard;
  };
  auto words = std::make_shared<Words>();
  RunOptions& o = words->options;
  refuse_empty(*run->add_option("plan", o.plan, "The plan (YAML)")->required());
  refuse_empty(*run->add_option("-o,--output", o.output, "The run directory; created")->required());
  run->add_flag("--resume", o.resume,
                "Continue the run in the directory: trials without a record, or with a transient failure");
  run->add_flag("--retry-failed", o.retry_failed,
                "As --resume, and repeat trials that did not end as the plan expects");
  allow_backends(
      *run->add_option("--backend", o.backend, "auto: cuda where every rank has a GPU, else emulated")
           ->capture_default_str());
  refuse_empty(*run->add_option("--time-limit", words->time_limit,
                                "Stop in time, exit 5: 90, 10min, 1h30min, HH:MM:SS, D-HH:MM:SS"));
  allow_real(
      *run->add_option("--grace", o.grace, "Seconds for running trials to end, after a signal or the limit")
           ->capture_default_str(),
      0, max_grace);
  refuse_empty(*run->add_option(
      "--store-limit", o.store_limit,
      "Most bytes of stored matrices: 50GiB, 512MiB, none (default: the plan's store_limit, else half "
      "of the free disk)"));
  refuse_empty(*run->add_option("--shard", words->shard, "I/N: only the I-th of N parts of the plan"));
  run->add_flag("--dry-run", o.dry_run, "Print the trials without running them");
  run->callback([words, &commands] {
    RunOptions& options = words->options;
    if (!words->time_limit.empty()) options.time_limit = parse_time_limit(words->time_limit);
    if (!words->shard.empty()) parse_shard(words->shard, options);
    if (!options.store_limit.empty()) check_store_limit(options.store_limit);
    options.command_line = command_line(commands);
    options.program = commands.argv[0];
    options.at_end = [program = options.program,
                      output = options.output](const io::JournalContents& journal) {
      spdlog::info("{}", run_end_words(program, output, journal));
    };
    const bool goes_on = options.resume || options.retry_failed;
    if (goes_on && !options.dry_run && !is_other_rank()) options.refusal = loss_by_resume(options.output);
    std::signal(SIGPIPE, SIG_IGN);  // before MPI starts, because the reader of the output may have exited
    commands.exit_code = run_sweep(options, commands.registry);
  });
}

}  // namespace gaussweep::driver
