/// Builds the command line from all commands, runs the chosen one, and converts exceptions to exit codes.

#include "driver/command/cli.hpp"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/command/options.hpp"
#include "driver/system/blas.hpp"
#include "driver/system/console.hpp"
#include "driver/system/machine.hpp"
#include "driver/system/process.hpp"
#include "io/files/errors.hpp"
#include "version.hpp"

namespace gaussweep::driver {
namespace {

std::string version_text() {
  return fmt::format("gaussweep {} (commit {}{}, {})", version_string, version_commit,
                     version_dirty ? ", modified" : "", version_build);
}

/// Prints and logs an error. @return `code`
int fail(int code, const std::string& what) {
  print_stderr(fmt::format("gaussweep: {}\n", printable_lines(what)));
  log_line(what);
  return code;
}

/// Parses the command line and runs the command. @return the exit code
/// @param output_error set to the error if part of standard output could not be written
int run_command(CLI::App& app, const Commands& commands, std::string& output_error) {
  try {
    app.parse(commands.argc, commands.argv);
    return commands.exit_code;
  } catch (const CLI::ParseError& e) {
    std::ostringstream help, messages;
    const int code = app.exit(e, help, messages);
    fmt::print("{}", help.str());
    print_stderr(messages.str());
    return code == 0 ? exit_ok : exit_usage;
  } catch (const UsageError& e) {
    return fail(exit_usage, e.what());
  } catch (const io::InputError& e) {
    return fail(exit_usage, e.what());
  } catch (const io::StorageError& e) {
    return fail(exit_broken, e.what());
  } catch (const std::system_error& e) {
    if (std::ferror(stdout) == 0) return fail(exit_broken, e.what());
    output_error = e.code().message();
    return exit_broken;
  } catch (const std::exception& e) {
    return fail(exit_broken, e.what());
  }
}

}  // namespace

std::string command_line(const Commands& commands) {
  std::string line;
  for (int i = 0; i < commands.argc; ++i) line += (i > 0 ? " " : "") + shell_word(commands.argv[i]);
  // File names need not be valid UTF-8, but texts in HDF5 and JSON must be.
  using Json = nlohmann::json;
  const std::string text =
      Json(line).dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
  return Json::parse(text).get<std::string>();
}

int run_command_line(int argc, char** argv, const Registry& registry, const DeviceMaker& make_device) {
  // OpenBLAS starts its threads when it is loaded, and retries forever if they cannot map memory. Therefore
  // only commands that compute load it with several threads. A worker gets its number of threads from its
  // supervisor, the process that started it. `restore` is the only other command that computes; it uses one
  // thread if the memory limits allow no more.
  const std::string command = argc > 1 ? argv[1] : "";
  const bool computes =
      command == "worker" || (command == "restore" && blas_memory_error(usable_cpus()).empty());
  if (!computes) {
    save_requested_threads();  // the user's OPENBLAS_NUM_THREADS, for the workers
    restart_with_variable("OPENBLAS_NUM_THREADS", "1", argv);
  }
  open_standard_descriptors();    // closed descriptors become /dev/null
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the file size limit then fails with an error
  start_logging();
  sanitize_output();  // replaces control characters
  Commands commands{registry, make_device, argc, argv};
  CLI::App app{"gaussweep: sweeps of dense linear-algebra methods over sizes, parameters and GPUs"};
  app.name("gaussweep");
  app.set_version_flag("-V,--version", version_text());
  app.require_subcommand(1);
  app.failure_message([](const CLI::App* parser, const CLI::Error& error) {
    return parser_error_text(*parser, error) + '\n';
  });
  for (AddCommand* add : {add_run_command,     add_try_command,    add_plan_command,    add_methods_command,
                          add_devices_command, add_status_command, add_summary_command, add_compare_command,
                          add_trend_command,   add_rule_command,   add_duet_command,    add_report_command,
                          add_verify_command,  add_merge_command,  add_matrix_command,  add_solve_command,
                          add_restore_command, add_export_command, add_worker_command,  add_help_command})
    add(app, commands);
  add_examples(app);
  std::string output_error;
  const int code = run_command(app, commands, output_error);
  if (output_error.empty()) output_error = flush_output();
  if (output_error.empty()) return code;
  // A reader such as `head` may close the pipe early. The exit code is that of a process killed by SIGPIPE.
  if (output_error == std::strerror(EPIPE))
    return code == exit_ok || code == exit_broken ? 128 + SIGPIPE : code;
  // Lost output is a failure; an earlier failure keeps its exit code.
  return fail(code == exit_ok ? int{exit_broken} : code,
              "standard output cannot be written: " + output_error);
}

}  // namespace gaussweep::driver
