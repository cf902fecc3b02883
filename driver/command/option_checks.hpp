#pragma once
/// What the parser of the command line checks itself, and how it says what is wrong.

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
class Error;
class Option;
}  // namespace CLI

namespace gaussweep::driver {

/// Only these words.
void allow_words(CLI::Option& option, const std::vector<std::string>& words);

/// auto, cuda, emulated, host.
void allow_backends(CLI::Option& option);

/// A whole number from `low` to `high`; 1k is 1024, as in a plan.
void allow_whole(CLI::Option& option, std::int64_t low, std::int64_t high);

/// As many rows as a table may be asked for.
inline constexpr std::int64_t most_rows = 1'000'000;

/// A finite number from `low` to `high`.
void allow_real(CLI::Option& option, double low, double high);

/// Anything but nothing: an empty word is a variable that a script forgot to set.
void refuse_empty(CLI::Option& option);

/// What the parser refused, in one line: the command, the word, what is allowed, the nearest name.
std::string refusal(const CLI::App& app, const CLI::Error& error);

}  // namespace gaussweep::driver
