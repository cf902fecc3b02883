/// `gaussweep duet`: compares this build with another one.

#include "driver/duet/duet.hpp"

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <memory>

#include "driver/command/cli.hpp"
#include "driver/command/option_checks.hpp"
#include "io/plan/plan_limits.hpp"

namespace gaussweep::driver {

void add_duet_command(CLI::App& app, Commands& commands) {
  CLI::App* duet = app.add_subcommand(
      "duet", "Alternate two builds, trial by trial, on one GPU; then report as compare does");
  struct Arguments {
    DuetOptions options;
    std::string threshold, format = "table";
  };
  auto arguments = std::make_shared<Arguments>();
  DuetOptions& o = arguments->options;
  refuse_empty(
      *duet->add_option("other", o.other, "The program of the other build, which is the base")->required());
  refuse_empty(*duet->add_option("plan", o.plan, "The plan (YAML)")->required());
  refuse_empty(
      *duet->add_option("-o,--output", o.output, "Directory for the run directories base and new; created")
           ->required());
  allow_backends(*duet->add_option("--backend", o.backend, "auto: cuda where there is a GPU, else emulated")
                      ->capture_default_str());
  allow_whole(*duet->add_option("--rounds", o.rounds, "Processes of each build; each runs every trial")
                   ->capture_default_str(),
              1, io::max_rounds);
  duet->add_option("--threshold", arguments->threshold,
                   "Percent by which a median must change to count (default: 0.5)");
  allow_words(*duet->add_option("--format", arguments->format, "How to show it")->capture_default_str(),
              {"table", "csv", "json"});
  duet->callback([arguments, &commands] {
    DuetOptions& options = arguments->options;
    options.command_line = command_line(commands);
    std::signal(SIGPIPE, SIG_IGN);
    commands.exit_code = run_duet(options, commands.registry);
    const std::filesystem::path output = options.output;
    const int compare_code =
        show_comparison(output / duet_base, output / duet_new, arguments->threshold, arguments->format);
    if (commands.exit_code == exit_ok) commands.exit_code = compare_code;
  });
}

}  // namespace gaussweep::driver
