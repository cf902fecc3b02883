/// `gaussweep methods`: the registry, for people and for programs.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "driver/base/table.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/methods_listing.hpp"
#include "driver/command/option_checks.hpp"
#include "driver/command/option_words.hpp"
#include "driver/system/terminal.hpp"

namespace gaussweep::driver {

void add_methods_command(CLI::App& app, Commands& commands) {
  struct Options {
    std::string format = "table", problem;
  };
  auto options = std::make_shared<Options>();
  CLI::App* sub =
      app.add_subcommand("methods", "List the methods: where each runs, what it needs, its parameters");
  allow_words(*sub->add_option("--format", options->format, "How to show it")->capture_default_str(),
              {"table", "json"});
  sub->add_option("--problem", options->problem, "Only methods of this problem, e.g. gesv");
  sub->callback([options, &commands] {
    const Format format = parse_format(options->format);
    std::vector<Method> chosen;
    if (!options->problem.empty()) parse_option<Problem>("--problem", options->problem);
    for (const Method& method : commands.registry.all()) {
      if (options->problem.empty() || to_string(method.problem) == options->problem) chosen.push_back(method);
    }
    if (format == Format::json) {
      fmt::print("{}\n", json_text(methods_json(chosen)));
    } else {
      fmt::print("{}", methods_text(chosen, output_width()));
    }
  });
}

}  // namespace gaussweep::driver
