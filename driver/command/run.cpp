/// `gaussweep run`: a plan's trials, over the ranks that there are.

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>

#include <csignal>
#include <memory>

#include "driver/base/errors.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/option_checks.hpp"
#include "driver/command/run_end.hpp"
#include "driver/plan/shard.hpp"
#include "driver/plan/time_limit.hpp"
#include "driver/sweep/session.hpp"

namespace gaussweep::driver {
namespace {

constexpr double most_grace = 1e9;  // seconds; no job waits longer

/// "I/N" with 1 <= I <= N.
void parse_shard(const std::string& text, RunOptions& options) {
  const std::optional<Shard> shard = read_shard(text);
  if (shard) {
    options.shard = *shard;
    return;
  }
  throw UsageError(fmt::format("--shard {}: give I/N with 1 <= I <= N, e.g. 2/4", text));
}

/// Before anything begins. @throws UsageError
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
                "As --resume, and repeat what did not end as the plan expects");
  allow_backends(
      *run->add_option("--backend", o.backend, "auto: cuda where every rank has a GPU, else emulated")
           ->capture_default_str());
  refuse_empty(*run->add_option("--time-limit", words->time_limit,
                                "Stop in time, exit 5: 90, 10min, 1h30min, HH:MM:SS, D-HH:MM:SS"));
  allow_real(
      *run->add_option("--grace", o.grace, "Seconds for running trials to end, after a signal or the limit")
           ->capture_default_str(),
      0, most_grace);
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
    std::signal(SIGPIPE, SIG_IGN);  // before MPI: whoever listened may have left
    commands.exit_code = run_sweep(options, commands.registry);
  });
}

}  // namespace gaussweep::driver
