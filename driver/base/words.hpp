#pragma once
/// Figures in words.

#include <cstddef>
#include <string>
#include <vector>

namespace gaussweep::driver {

/// "1.23 s", "4.5 ms", "67 us", "8.9 ns".
std::string seconds_text(double seconds);
/// "1 trial", "2 trials".
std::string counted(std::size_t count, const std::string& what);
/// "1.5 GiB"
std::string bytes_text(double bytes);
/// 90 as people write it, "9.0"; empty for 0, which needs none.
std::string capability_text(int capability);
/// A record's parameters, {"blocks":3,"order":"rows"}, as "blocks=3 order=rows"; 1e12 and not
/// 1000000000000.0.
std::string settings_text(const std::string& parameters);
/// A number with `digits` significant digits, without an exponent where that is readable: "0.0123", "1230".
std::string significant_text(double value, int digits);

/// Columns on a terminal: code points, good enough for names of machines and GPUs.
std::size_t width_of(const std::string& text);
/// The text in lines of at most `width` columns, broken at spaces, which go. A longer word is broken after
/// one of its / _ - , = : or . and else anywhere. At least one line; further ones begin with `indent` spaces.
/// @pre width > indent
std::vector<std::string> wrapped(const std::string& text, std::size_t width, std::size_t indent = 0);
/// The same with line feeds, one at the end too.
std::string paragraph(const std::string& text, std::size_t width);

/// Puts words behind a message, "; " between them where it has some.
template <class String>
void add_words(String& message, const std::string& words) {
  if (!words.empty()) message += (message.empty() ? "" : "; ") + words;
}

/// A word as a shell takes it: as it is where nothing in it has a meaning there, else between quotes. "./"
/// goes before a name that begins with "-", so that a command does not take it for an option.
std::string shell_word(const std::string& text);

/// "2 h 05 min", "3 min 10 s", "12 s".
std::string duration_words(double seconds);

}  // namespace gaussweep::driver
