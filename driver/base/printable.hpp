#pragma once
/// Makes text from files safe for a terminal, which would execute control sequences in it.

#include <string>

namespace gaussweep::driver {

/// Returns the text as one line without hidden characters. Replaces by U+FFFD: control characters, including
/// line feeds and tabs; characters that change the direction of writing; bytes that are not UTF-8.
std::string one_line_printable(const std::string& text);
/// Like `one_line_printable`, for a message of several lines: keeps line feeds and tabs.
std::string printable_lines(const std::string& text);
/// Like `printable_lines`, for complete terminal output: also keeps colours (ESC [, digits and ";", m).
std::string terminal_text(const std::string& text);

}  // namespace gaussweep::driver
