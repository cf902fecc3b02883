#pragma once
/// The terminal that standard output is attached to.

#include <cstddef>
#include <string>

#include "driver/base/table.hpp"

namespace gaussweep::driver {

/// Returns the number of columns: COLUMNS if set, otherwise the terminal's; `fallback` for files and pipes.
std::size_t output_width(std::size_t fallback = any_width);
/// Returns the width for running text: `output_width`, at most 100.
std::size_t prose_width();
/// Returns true if standard output is a terminal with colours: NO_COLOR (https://no-color.org) is absent or
/// empty, and TERM is not "dumb".
bool output_has_colours();

/// Returns true if standard output is a terminal.
bool output_is_terminal();

/// Writes the whole text to a file descriptor. @return false if the system refuses it (errno)
bool write_all(int fd, const std::string& text) noexcept;

/// Replaces the terminal's contents by the lines of `text` that fit, and the line `footer` unless it is
/// empty.
void redraw(const std::string& text, const std::string& footer);

}  // namespace gaussweep::driver
