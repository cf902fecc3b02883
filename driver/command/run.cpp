/// Implements `gaussweep run`: runs the trials of a plan (a YAML file) on all MPI ranks, and resumes runs. A
/// trial is one method on one matrix.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <spdlog/spdlog.h>
#include <vector>

#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/options.hpp"
#include "driver/compare/run_end.hpp"
#include "driver/plan/plan_names.hpp"
#include "driver/plan/planned_trials.hpp"
#include "driver/plan/shard.hpp"
#include "driver/plan/time_limit.hpp"
#include "driver/results/journal_results.hpp"
#include "driver/results/loading.hpp"
#include "driver/rule/refine.hpp"
#include "driver/sweep/session.hpp"
#include "driver/system/process.hpp"
#include "io/files/errors.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {
namespace {

namespace fs = std::filesystem;

/// Implements --refine: lets the run add orders n near each crossover, where the fastest method changes. A
/// resumed run starts with the orders that it added before.
/// @param resumes true if the run continues an earlier one
/// @param registry receives the methods of the run's libraries
void refine(RunOptions& options, bool resumes, Registry& registry) {
  const auto backend_of = [](const io::JournalContents& journal) {
    return from_string<Backend>(last_start(journal).backend);
  };
  io::Plan plan = io::read_plan(options.plan, enum_names<Problem>());
  add_libraries_of(registry, plan, options.plan, options.libraries);
  const auto refinement = std::make_shared<Refinement>(std::move(plan), options.plan, registry);
  if (resumes) {
    const io::JournalContents journal = io::read_journal(fs::path(options.output) / "journal.jsonl");
    if (const auto backend = backend_of(journal)) {
      refinement->restore(last_start(journal).plan);
      options.made_plan = refinement->plan(*backend, results_of(journal).devices);
    }
  }
  options.next_plan = [refinement, backend_of](const io::JournalContents& journal) {
    return refinement->next(results_of(journal), backend_of(journal).value());
  };
}

/// Counts the crossovers by their state: "12 crossovers: 9 known to 3 %, 2 where both methods tie, 1 not
/// refined". A bracket has the two neighbouring orders around one crossover (rule/refine.hpp). The crossover
/// is known if these differ by at most 3 %.
std::string crossover_text(const io::Results& results) {
  std::size_t known = 0, ties = 0, open = 0;
  const std::vector<Bracket> brackets = brackets_of(results);
  for (const Bracket& each : brackets) {
    if (each.is_known()) {
      ++known;
    } else if (each.next.empty()) {
      ++ties;
    } else {
      ++open;
    }
  }
  return fmt::format("{}: {} known to 3 %, {} where both methods tie, {} not refined",
                     counted(brackets.size(), "crossover"), known, ties, open);
}

constexpr double max_grace = 1e9;  // largest value of --grace, in seconds

/// Returns true if the environment variables of the MPI launcher say that this process is not rank 0.
bool is_other_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    const std::string rank = environment_value(name);
    if (!rank.empty()) return rank != "0";
  }
  return false;
}

/// Returns an error if results.h5 has records that the journal lacks. A resumed run rebuilds results.h5 from
/// the journal, so these records would be lost. Returns an empty text if no record would be lost.
/// @pre MPI is not initialised, because results.h5 is read in a child process
std::string resume_loss_error(const fs::path& run) {
  const fs::path journal = run / "journal.jsonl", results = run / "results.h5";
  io::JournalContents contents;
  std::size_t lost = 0;
  try {
    lost = records_only_in(results, [&]() -> const std::vector<io::Record>& {
      contents = io::read_journal(journal, /*with_details=*/false);
      return contents.records;
    });
  } catch (const std::runtime_error&) {
    return {};  // the run itself reports the journal's error
  }
  // A torn last line is dropped, and its trial runs again.
  if (lost == 0 || (lost == 1 && contents.torn)) return {};
  std::string state_of_journal = io::first_damage(contents);
  if (state_of_journal.empty())
    state_of_journal = fmt::format("it has {}", counted(contents.records.size(), "record"));
  std::error_code error;
  if (!fs::exists(journal, error)) state_of_journal = "it is gone";
  return fmt::format(
      "-o {}: results.h5 has {} that journal.jsonl lacks ({}). They would be lost, because results.h5 is "
      "made from the journal. Put the whole journal back, or move results.h5 elsewhere; gaussweep merge "
      "joins "
      "it with later results",
      run.string(), counted(lost, "record"), state_of_journal);
}

/// Checks the value of --store-limit. @throws UsageError
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
  struct RunCommandOptions : RunOptions {
    std::string shard_text;
    bool refines = false;
  };
  auto options = std::make_shared<RunCommandOptions>();
  RunOptions& o = *options;
  refuse_empty(*run->add_option("plan", o.plan, "The plan (YAML)")->required());
  add_output(*run, o.output, "The run directory; created").required();
  add_library_option(*run, o.libraries);
  run->add_flag("--resume", o.resume,
                "Continue the run in the directory: trials without a record, or with a transient failure");
  run->add_flag("--retry-failed", o.retry_failed,
                "As --resume, and repeat trials that did not end as the plan expects");
  add_backend(*run, o.backend, "auto: cuda where every rank has a GPU, else emulated");
  refuse_empty(*run->add_option(
      "--time-limit", options->time_limit_text,
      "Stop before this time is over, with exit code 5: 90, 10min, 1h30min, HH:MM:SS, D-HH:MM:SS"));
  allow_real(
      *run->add_option("--grace", o.grace, "Seconds for running trials to end, after a signal or the limit")
           ->capture_default_str(),
      0, max_grace);
  refuse_empty(*run->add_option(
      "--store-limit", o.store_limit,
      "Maximum bytes of stored matrices: 50GiB, 512MiB, none (default: the plan's store_limit, else half "
      "of the free disk; of --shard I/N an N-th of that)"));
  refuse_empty(*run->add_option("--shard", options->shard_text, "I/N: only the I-th of N parts of the plan"));
  allow_integers(*run->add_option("--gpus-per-rank", o.gpus_per_rank,
                                  "GPUs of every rank, for methods that share a matrix among several")
                      ->capture_default_str(),
                 1, max_gpus);
  run->add_flag("--refine", options->refines,
                "After the plan, add orders between which two methods cross, until each crossover is known "
                "to 3 %; one rank");
  run->add_flag(
      "--dry-run", o.dry_run,
      "Print the trials that would run, without running them; the exit code is that of the run's start");
  run->callback([options, &commands] {
    RunCommandOptions& settings = *options;
    if (!settings.time_limit_text.empty()) settings.time_limit = parse_time_limit(settings.time_limit_text);
    settings.has_shard = !settings.shard_text.empty();
    if (settings.has_shard) settings.shard = parse_shard(settings.shard_text);
    if (!settings.store_limit.empty()) check_store_limit(settings.store_limit);
    settings.command_line = command_line(commands);
    settings.program = commands.argv[0];
    settings.at_end = [program = settings.program, output = settings.output,
                       refines = settings.refines](const io::JournalContents& journal) {
      if (refines)
        spdlog::info("{}; {}", counted(journal.records.size(), "record"),
                     crossover_text(results_of(journal)));
      spdlog::info("{}", run_end_text(program, output, journal));
    };
    const bool resumes = settings.resume || settings.retry_failed;
    if (resumes && !is_other_rank()) settings.start_error = resume_loss_error(settings.output);
    Registry registry = commands.registry;
    if (settings.refines) refine(settings, resumes, registry);
    std::signal(SIGPIPE, SIG_IGN);  // before MPI starts, because the reader of the output may have exited
    commands.exit_code = run_sweep(settings, registry);
  });
}

}  // namespace gaussweep::driver
