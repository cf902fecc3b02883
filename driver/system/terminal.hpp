#pragma once
/// What standard output is shown on.

#include <cstddef>
#include <string>

#include "driver/base/table.hpp"

namespace gaussweep::driver {

/// Columns: COLUMNS where it is set, else the terminal's, else `otherwise`: a file or a pipe takes any.
std::size_t output_width(std::size_t otherwise = any_width);
/// Of sentences: the same, at most 100.
std::size_t prose_width();
/// Whether standard output is a terminal that shows colours: NO_COLOR (https://no-color.org) is absent or
/// empty, TERM is not "dumb".
bool output_has_colours();

bool output_is_terminal();

/// Shows a text from the terminal's upper left corner on, in place of what stood there. It shows as many
/// lines as there is room for, and below them `last`, if it is not empty.
void redraw(const std::string& text, const std::string& last);

}  // namespace gaussweep::driver
