#pragma once
/// Checks of option values by the parser, and their error messages.

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
class Error;
class Option;
}  // namespace CLI

namespace gaussweep::driver {

/// Restricts an option to these words.
void allow_words(CLI::Option& option, const std::vector<std::string>& words);

/// Restricts an option to auto, cuda, emulated, host.
void allow_backends(CLI::Option& option);

/// Restricts an option to integers from `low` to `high`; 1k is 1024, as in a plan.
void allow_whole(CLI::Option& option, std::int64_t low, std::int64_t high);

/// Limit on the rows of a table.
inline constexpr std::int64_t most_rows = 1'000'000;

/// Restricts an option to finite numbers from `low` to `high`.
void allow_real(CLI::Option& option, double low, double high);

/// Rejects empty values, which usually come from unset variables in scripts.
void refuse_empty(CLI::Option& option);

/// Returns the parser's error in one line: the command, the word, the allowed words, and the nearest one.
std::string refusal(const CLI::App& app, const CLI::Error& error);

}  // namespace gaussweep::driver
