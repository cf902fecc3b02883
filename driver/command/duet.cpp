/// Implements `gaussweep duet`: alternates this build and another build trial by trial, then compares them. A
/// trial is one method on one matrix.

#include "driver/duet/duet.hpp"

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <memory>

#include "driver/command/cli.hpp"
#include "driver/command/options.hpp"
#include "io/plan/plan_limits.hpp"

namespace gaussweep::driver {

void add_duet_command(CLI::App& app, Commands& commands) {
  CLI::App* duet = app.add_subcommand(
      "duet", "Alternate two builds, trial by trial, on one GPU; then report as compare does");
  struct DuetCommandOptions : DuetOptions {
    std::string threshold, format = "table";
  };
  auto options = std::make_shared<DuetCommandOptions>();
  DuetOptions& o = *options;
  refuse_empty(
      *duet->add_option("other", o.other, "The program of the other build, which is the base")->required());
  refuse_empty(*duet->add_option("plan", o.plan, "The plan (YAML)")->required());
  add_output(*duet, o.output, "Directory for the run directories base and new; created").required();
  add_library_option(*duet, o.libraries);
  duet->get_option("--methods")
      ->description(
          "A shared library with more methods; may be given repeatedly. If the plan has libraries, too, the "
          "other "
          "build uses those of the plan, and this build uses these");
  add_backend(*duet, o.backend, "auto: cuda where there is a GPU, else emulated");
  allow_integers(*duet->add_option("--rounds", o.rounds, "Processes of each build; each runs every trial")
                      ->capture_default_str(),
                 1, io::max_rounds);
  duet->add_option("--threshold", options->threshold,
                   "Percent by which a median must change to count, 0 to 1000 (default: 0.5)");
  add_format(*duet, options->format, {"table", "csv", "json"});
  duet->callback([options, &commands] {
    options->command_line = command_line(commands);
    std::signal(SIGPIPE, SIG_IGN);
    commands.exit_code = run_duet(*options, commands.registry);
    const std::filesystem::path output = options->output;
    const int compare_code =
        show_comparison(output / duet_base, output / duet_new, options->threshold, options->format);
    if (commands.exit_code == exit_ok) commands.exit_code = compare_code;
  });
}

}  // namespace gaussweep::driver
