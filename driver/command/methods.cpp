/// Implements `gaussweep methods`: lists the methods of this program and of shared libraries as text or JSON.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/method_templates.hpp"
#include "driver/command/options.hpp"
#include "driver/plan/method_library.hpp"
#include "driver/summary/methods_listing.hpp"
#include "driver/system/terminal.hpp"

namespace gaussweep::driver {

namespace {

struct MethodsOptions {
  std::string format = "table", problem, template_name;
  std::vector<std::string> patterns, libraries;
};

/// Returns true if the pattern is the name of the method's problem, or matches its variant or its id
/// (problem/variant).
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
  if (chosen.empty())
    throw UsageError(fmt::format("methods: no method of the problem {} matches {}", options.problem,
                                 fmt::join(options.patterns, ", ")));
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
  add_library_option(*sub, options->libraries);
  sub->add_option("names", options->patterns, "Only these: problems, variants, problem/variant, or globs");
  static const std::map<std::string, const char*> templates{{"c", method_template_c},
                                                            {"cuda", method_template_cuda},
                                                            {"header", method_header},
                                                            {"plan", method_template_plan}};
  allow_values(
      *sub->add_option("--template", options->template_name,
                       "Print a method to begin with, the header that it includes, or a plan for it"),
      {"c", "cuda", "header", "plan"});
  sub->callback([options, &commands] {
    if (!options->template_name.empty()) {
      fmt::print("{}", templates.at(options->template_name));
      return;
    }
    Registry registry = commands.registry;
    add_libraries(registry, options->libraries);
    list_methods(*options, registry);
  });
}

}  // namespace gaussweep::driver
