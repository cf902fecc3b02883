/// `gaussweep methods`: lists the registry as text or JSON.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/options.hpp"
#include "driver/summary/methods_listing.hpp"
#include "driver/system/terminal.hpp"

namespace gaussweep::driver {

namespace {

struct MethodsOptions {
  std::string format = "table", problem;
  std::vector<std::string> patterns;
};

bool is_matching(const std::string& pattern, const Method& method) {
  return pattern == to_string(method.problem) || matches(pattern, method);
}

/// Throws if a pattern matches no method.
void check_patterns(const std::vector<std::string>& patterns, const std::vector<Method>& methods) {
  std::vector<std::string> names = enum_names<Problem>();
  for (const Method& method : methods) {
    names.push_back(method.variant);
    names.push_back(method.id());
  }
  for (const std::string& pattern : patterns) {
    if (std::none_of(methods.begin(), methods.end(),
                     [&](const Method& method) { return is_matching(pattern, method); }))
      throw UsageError(fmt::format("methods: '{}' is no method and no problem; {}gaussweep methods lists all",
                                   pattern, io::nearest_hint(pattern, names)));
  }
}

void list_methods(const MethodsOptions& options, const Registry& registry) {
  const Format format = parse_format(options.format);
  if (!options.problem.empty()) parse_option<Problem>("--problem", options.problem);
  check_patterns(options.patterns, registry.all());
  std::vector<Method> chosen;
  for (const Method& method : registry.all()) {
    const bool is_named =
        options.patterns.empty() ||
        std::any_of(options.patterns.begin(), options.patterns.end(),
                    [&](const std::string& pattern) { return is_matching(pattern, method); });
    if (is_named && (options.problem.empty() || to_string(method.problem) == options.problem))
      chosen.push_back(method);
  }
  if (format == Format::json) {
    fmt::print("{}\n", json_text(methods_json(chosen)));
  } else {
    fmt::print("{}", methods_text(chosen, output_width()));
  }
}

}  // namespace

void add_methods_command(CLI::App& app, Commands& commands) {
  auto options = std::make_shared<MethodsOptions>();
  CLI::App* sub =
      app.add_subcommand("methods", "List the methods: where each runs, what it needs, its parameters");
  add_format(*sub, options->format, {"table", "json"});
  sub->add_option("--problem", options->problem, "Only methods of this problem, e.g. gesv");
  sub->add_option("methods", options->patterns, "Only these: problems, variants, problem/variant, or globs");
  sub->callback([options, &commands] { list_methods(*options, commands.registry); });
}

}  // namespace gaussweep::driver
