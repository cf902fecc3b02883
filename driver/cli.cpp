#include "driver/cli.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>

#include <csignal>

#include "driver/option_checks.hpp"
#include "driver/process.hpp"
#include "io/errors.hpp"
#include "version.hpp"

namespace gaussweep::driver {
namespace {

std::string version_text() {
  return fmt::format("gaussweep {} (commit {}{}, {})", version_string, version_commit,
                     version_dirty ? ", modified" : "", version_build);
}

int fail(int code, const std::string& what) {
  fmt::print(stderr, "gaussweep: {}\n", what);
  return code;
}

}  // namespace

std::string command_line(const Commands& commands) {
  std::string line;
  for (int i = 0; i < commands.argc; ++i) line += (i > 0 ? " " : "") + std::string(commands.argv[i]);
  return line;
}

int run_command_line(int argc, char** argv, const Registry& registry, const DeviceMaker& make_device) {
  open_standard_descriptors();
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond its limit is an error of the write that asked for it
  spdlog::set_default_logger(spdlog::stderr_color_mt("gaussweep"));
  spdlog::set_pattern("%H:%M:%S %^%l%$: %v");
  Commands commands{registry, make_device, argc, argv};
  CLI::App app{"gaussweep: sweeps of dense linear-algebra methods over sizes, parameters and GPUs"};
  app.name("gaussweep");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.failure_message(
      [](const CLI::App* parser, const CLI::Error& error) { return refusal(*parser, error) + '\n'; });
  add_run_command(app, commands);
  add_plan_command(app, commands);
  add_methods_command(app, commands);
  add_devices_command(app, commands);
  add_status_command(app, commands);
  add_summary_command(app, commands);
  add_compare_command(app, commands);
  add_verify_command(app, commands);
  add_merge_command(app, commands);
  add_matrix_command(app, commands);
  add_restore_command(app, commands);
  add_worker_command(app, commands);
  try {
    app.parse(argc, argv);
    return commands.exit_code;
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);  // prints help, version, or what is wrong
    return code == 0 ? exit_ok : exit_usage;
  } catch (const UsageError& e) {
    return fail(exit_usage, e.what());
  } catch (const io::InputError& e) {
    return fail(exit_usage, e.what());
  } catch (const io::StorageError& e) {
    return fail(exit_broken, e.what());
  } catch (const std::exception& e) {
    return fail(exit_broken, e.what());
  }
}

}  // namespace gaussweep::driver
