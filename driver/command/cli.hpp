#pragma once
/// The command line. Each subcommand is a file of its own that adds itself to the parser. It reports bad
/// usage by throwing UsageError or io::InputError (exit code 2), and returns its exit code in
/// `Commands::exit_code`.

#include <string>

#include "driver/base/errors.hpp"
#include "driver/worker/probe.hpp"
#include "kernels/registry/method.hpp"

namespace CLI {
class App;
}

namespace gaussweep::driver {

/// What every subcommand gets. Lives as long as the parser.
struct Commands {
  const Registry& registry;
  const DeviceMaker& make_device;  ///< of workers; tests give others
  int argc;
  char** argv;
  int exit_code = exit_ok;
};

/// The arguments in one line, for the records of what was done.
std::string command_line(const Commands& commands);

/// Parses and runs; returns the process's exit code. Nothing escapes but what main cannot report either.
int run_command_line(int argc, char** argv, const Registry& registry,
                     const DeviceMaker& make_device = make_worker_device);

void add_run_command(CLI::App& app, Commands& commands);
void add_worker_command(CLI::App& app, Commands& commands);
void add_try_command(CLI::App& app, Commands& commands);
void add_plan_command(CLI::App& app, Commands& commands);
void add_methods_command(CLI::App& app, Commands& commands);
void add_devices_command(CLI::App& app, Commands& commands);
void add_status_command(CLI::App& app, Commands& commands);
void add_summary_command(CLI::App& app, Commands& commands);
void add_compare_command(CLI::App& app, Commands& commands);
/// What `compare` prints of two sets. @param threshold as its option says it; empty: the default
/// @return exit_ok, or exit_regression
int show_comparison(const std::string& base, const std::string& now, const std::string& threshold,
                    const std::string& format);
void add_trend_command(CLI::App& app);
void add_duet_command(CLI::App& app, Commands& commands);
void add_report_command(CLI::App& app, Commands& commands);
void add_verify_command(CLI::App& app, Commands& commands);
void add_merge_command(CLI::App& app, Commands& commands);
void add_matrix_command(CLI::App& app, Commands& commands);
void add_restore_command(CLI::App& app, Commands& commands);
void add_solve_command(CLI::App& app, Commands& commands);
void add_export_command(CLI::App& app);
/// @pre all other commands are there
void add_help_command(CLI::App& app, const Registry& registry);

/// Ends the help of each command with examples.
void add_examples(CLI::App& app);

}  // namespace gaussweep::driver
