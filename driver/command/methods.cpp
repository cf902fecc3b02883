/// `gaussweep methods`: lists the registry as text or JSON.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/option_checks.hpp"
#include "driver/command/option_words.hpp"
#include "driver/summary/methods_listing.hpp"
#include "driver/system/terminal.hpp"

namespace gaussweep::driver {

void add_methods_command(CLI::App& app, Commands& commands) {
  struct Options {
    std::string format = "table", problem;
    std::vector<std::string> words;
  };
  auto options = std::make_shared<Options>();
  CLI::App* sub =
      app.add_subcommand("methods", "List the methods: where each runs, what it needs, its parameters");
  allow_words(*sub->add_option("--format", options->format, "How to show it")->capture_default_str(),
              {"table", "json"});
  sub->add_option("--problem", options->problem, "Only methods of this problem, e.g. gesv");
  sub->add_option("methods", options->words, "Only these: problems, variants, problem/variant, or globs");
  sub->callback([options, &commands] {
    const Format format = parse_format(options->format);
    std::vector<Method> chosen;
    if (!options->problem.empty()) parse_option<Problem>("--problem", options->problem);
    const auto is_matching = [](const std::string& word, const Method& method) {
      return word == to_string(method.problem) || matches(word, method);
    };
    std::vector<std::string> names = enum_names<Problem>();
    for (const Method& method : commands.registry.all()) {
      names.push_back(method.variant);
      names.push_back(method.id());
    }
    for (const std::string& word : options->words) {
      const auto& all = commands.registry.all();
      if (std::any_of(all.begin(), all.end(),
                      [&](const Method& method) { return is_matching(word, method); }))
        continue;
      throw UsageError(fmt::format("methods: '{}' is no method and no problem; {}gaussweep methods lists all",
                                   word, io::nearest_hint(word, names)));
    }
    for (const Method& method : commands.registry.all()) {
      const bool is_named = options->words.empty() ||
                            std::any_of(options->words.begin(), options->words.end(),
                                        [&](const std::string& word) { return is_matching(word, method); });
      if (is_named && (options->problem.empty() || to_string(method.problem) == options->problem))
        chosen.push_back(method);
    }
    if (format == Format::json) {
      fmt::print("{}\n", json_text(methods_json(chosen)));
    } else {
      fmt::print("{}", methods_text(chosen, output_width()));
    }
  });
}

}  // namespace gaussweep::driver
