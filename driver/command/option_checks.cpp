#include "driver/command/option_checks.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

#include "driver/plan/plan_words.hpp"
#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  // Internal commands such as `worker` have no group.
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App* s) { return !s->get_group().empty(); })) {
    names.push_back(sub->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->nonpositional()) continue;
    const auto& longs = option->get_lnames();
    names.push_back(longs.empty() ? "-" + option->get_snames().front() : "--" + longs.front());
  }
  return names;
}

/// Returns the error for a word that the command `app` does not know.
std::string unknown_word(const CLI::App& app, const std::string& command, const std::string& word) {
  if (word.size() > 1 && word.front() == '-') {
    const std::string name = word.substr(0, word.find('='));
    const std::vector<std::string> names = options_of(app);
    return fmt::format("{}: no option '{}'; {}allowed: {}", command, name, io::nearest_hint(name, names),
                       fmt::join(names, ", "));
  }
  const std::vector<std::string> names = commands_of(app);
  if (names.empty())
    return fmt::format("{}: unexpected argument '{}'; see {} --help", command, word, command);
  return fmt::format("{}: no command '{}'; {}allowed: {}", command, word, io::nearest_hint(word, names),
                     fmt::join(names, ", "));
}

}  // namespace

void allow_words(CLI::Option& option, const std::vector<std::string>& words) {
  const auto check = [words](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    return fmt::format("'{}'; {}allowed: {}", text, io::nearest_hint(text, words), fmt::join(words, ", "));
  };
  option.check(check, fmt::format("{{{}}}", fmt::join(words, ",")));
}

void allow_backends(CLI::Option& option) {
  std::vector<std::string> words = enum_names<Backend>();
  words.insert(words.begin(), "auto");
  allow_words(option, words);
}

void allow_whole(CLI::Option& option, std::int64_t low, std::int64_t high) {
  const auto read = [low, high](std::string& text) -> std::string {
    try {
      text = std::to_string(io::parse_integer({text, {}}, low, high, ""));
    } catch (const io::InputError&) {
      return fmt::format("'{}'; allowed: a whole number from {} to {} (1k = 1024)", text, low, high);
    }
    return {};
  };
  option.transform(CLI::Validator(read, ""));
}

void allow_real(CLI::Option& option, double low, double high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    try {
      io::parse_real({text, {}}, low, high, "");
    } catch (const io::InputError&) {
      return fmt::format("'{}'; allowed: a number from {:g} to {:g}", text, low, high);
    }
    return {};
  };
  option.check(check, "");
}

void refuse_empty(CLI::Option& option) {
  option.check(
      [](const std::string& text) -> std::string {
        return text.empty() ? "an empty text; allowed: one value" : "";
      },
      "");
}

std::string refusal(const CLI::App& app, const CLI::Error& error) {
  const CLI::App* at = &app;
  std::string command = app.get_name();
  for (;;) {
    const std::vector<std::string> unknown = at->remaining();
    if (!unknown.empty()) return unknown_word(*at, command, unknown.front());
    const std::vector<CLI::App*> chosen = at->get_subcommands();
    if (chosen.empty()) break;
    at = chosen.front();
    command += " " + at->get_name();
  }
  const std::vector<std::string> names = commands_of(*at);
  if (!names.empty()) {
    return fmt::format("{}: a command is missing; allowed: {}; see {} --help", command,
                       fmt::join(names, ", "), command);
  }
  return fmt::format("{}: {}; see {} --help", command, error.what(), command);
}

}  // namespace gaussweep::driver
