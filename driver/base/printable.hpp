#pragma once
/// Text of files on its way to a terminal, which would obey what is hidden in it.

#include <string>

namespace gaussweep::driver {

/// The text as one line, as wide as it looks. U+FFFD stands for every control character (line feeds and tabs
/// too), for what turns the direction of writing, and for bytes that are not UTF-8.
std::string printable(const std::string& text);
/// The same for a message of several lines: line feeds and tabs stay.
std::string printable_lines(const std::string& text);
/// The same for what is written to a terminal whole: colours (ESC [ digits and ; m) stay too.
std::string terminal_text(const std::string& text);

}  // namespace gaussweep::driver
