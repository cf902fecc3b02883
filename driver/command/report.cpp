/// Implements `gaussweep report`: replaces this process by the Python program that makes the report.

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "driver/base/errors.hpp"
#include "driver/command/cli.hpp"

namespace gaussweep::driver {

// The report program is in share/ next to an installed program's folder, or in the source tree.
void become_report(std::vector<std::string> arguments) {
  namespace fs = std::filesystem;
  const fs::path self = fs::read_symlink("/proc/self/exe"), folder = self.parent_path();
  const fs::path candidates[] = {folder / "../share/gaussweep/analysis/report",
                                 folder / "../analysis/report"};
  for (const fs::path& candidate : candidates) {
    if (::access(candidate.c_str(), X_OK) != 0) continue;
    ::setenv("GAUSSWEEP", self.c_str(), 1);  // the report calls this program for comparisons
    arguments.insert(arguments.begin(), candidate.lexically_normal().string());
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    ::execv(argv.front(), argv.data());
    throw UsageError(fmt::format("report: {} cannot start: {}", argv.front(), std::strerror(errno)));
  }
  throw UsageError(fmt::format("report: it is neither {} nor {}; start analysis/report of the source",
                               candidates[0].lexically_normal().string(),
                               candidates[1].lexically_normal().string()));
}

void add_report_command(CLI::App& app, Commands&) {
  CLI::App* sub = app.add_subcommand("report", "One HTML page on what was measured: tables, plots, verdicts");
  sub->set_help_flag();  // --help shows the report program's help
  sub->prefix_command();
  sub->callback([sub] { become_report(sub->remaining()); });
}

}  // namespace gaussweep::driver
