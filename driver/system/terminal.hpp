#pragma once
/// What standard output is shown on.

#include <cstddef>

namespace gaussweep::driver {

/// Columns: COLUMNS where it is set, else the terminal's; 120 where there is neither.
std::size_t output_width();
/// Whether standard output is a terminal that shows colours: NO_COLOR (https://no-color.org) is absent or
/// empty, TERM is not "dumb".
bool output_has_colours();

}  // namespace gaussweep::driver
