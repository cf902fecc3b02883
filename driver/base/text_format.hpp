#pragma once
/// Conversions of numbers to text for people, line breaking, and quoting for a shell.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gaussweep::driver {

/// Returns seconds with a unit: "1.23 s", "4.5 ms", "67 us", "8.9 ns".
std::string seconds_text(double seconds);
/// Returns a count and the noun `what`: "1 trial", "2 trials".
std::string counted(std::size_t count, const std::string& what);
/// Returns "10 to 20", or "7" for two equal numbers.
std::string range_text(std::int64_t low, std::int64_t high);
/// Returns bytes with a unit: "1.5 GiB".
std::string bytes_text(double bytes);
/// Returns a compute capability as text: "9.0" for 90; empty for 0 (no requirement, or no GPU).
std::string capability_text(int capability);
/// Returns a record's method parameters, {"blocks":3,"order":"rows"}, as "blocks=3 order=rows". Numbers are
/// short: 1e12 instead of 1000000000000.0.
std::string parameters_for_people(const std::string& parameters);
/// Returns a number with `digits` significant digits, without an exponent if possible: "0.0123", "1230".
std::string significant_text(double value, int digits);

/// Returns the number of terminal columns that a text takes, estimated by its number of code points.
std::size_t width_of(const std::string& text);
/// Breaks a text at spaces into lines of at most `width` columns; the spaces at the breaks are removed. A
/// word that is longer than a line is broken after one of / _ - , = : . or otherwise anywhere. Returns at
/// least one line; lines after the first begin with `indent` spaces.
/// @pre width > indent
std::vector<std::string> wrapped(const std::string& text, std::size_t width, std::size_t indent = 0);
/// Returns the lines of `wrapped`, each ended by a line feed.
std::string paragraph(const std::string& text, std::size_t width);

/// Appends a text to a message, with "; " between them unless the message is empty.
template <class String>
void append_text(String& message, const std::string& text) {
  if (!text.empty()) message += (message.empty() ? "" : "; ") + text;
}

/// Quotes a word for a shell; a word without special characters stays unchanged.
std::string shell_word(const std::string& text);
/// Quotes the name of a file for a shell. A name that begins with "-" gets the prefix "./", so that commands
/// do not take it as an option.
std::string shell_quoted(const std::string& name);

/// Returns "2 h 05 min", "3 min 10 s", "12 s".
std::string duration_text(double seconds);

}  // namespace gaussweep::driver
