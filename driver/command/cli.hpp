#pragma once
/// The command line. Each subcommand is in its own file and adds itself to the parser. A subcommand throws
/// UsageError or io::InputError (exit code 2) if the usage is wrong; otherwise it sets `Commands::exit_code`.

#include <string>

#include "driver/base/errors.hpp"
#include "driver/worker/probe.hpp"
#include "kernels/registry/method.hpp"

namespace CLI {
class App;
}

namespace gaussweep::driver {

/// The context of all subcommands. Lives as long as the parser.
struct Commands {
  const Registry& registry;
  const DeviceMaker& make_device;  ///< creates the device of a worker process; tests replace this function
  int argc;
  char** argv;
  int exit_code = exit_ok;
};

/// Returns the program's arguments as one line, for the record of where a run's results come from.
std::string command_line(const Commands& commands);

/// Parses the command line and runs the command. Prints the command's exceptions as errors.
/// @param registry the methods @return the process's exit code
int run_command_line(int argc, char** argv, const Registry& registry,
                     const DeviceMaker& make_device = make_worker_device);

/// Adds a command to the parser `app`, which must not outlive `commands`.
using AddCommand = void(CLI::App& app, Commands& commands);
AddCommand add_run_command, add_worker_command, add_try_command, add_plan_command, add_methods_command,
    add_devices_command, add_status_command, add_summary_command, add_compare_command, add_trend_command,
    add_rule_command, add_duet_command, add_report_command, add_verify_command, add_merge_command,
    add_matrix_command, add_restore_command, add_solve_command, add_export_command;
/// Adds the command `help`. @pre all other commands have been added
AddCommand add_help_command;

/// Prints the output of `compare` for two runs. @param threshold value of --threshold; empty: the default
/// @return exit_ok, or exit_regression
int show_comparison(const std::string& base, const std::string& now, const std::string& threshold,
                    const std::string& format);

/// Replaces this process by the report program with these arguments. @throws UsageError if it cannot start
void become_report(std::vector<std::string> arguments);

/// Adds examples to the help of each command.
void add_examples(CLI::App& app);

}  // namespace gaussweep::driver
