#pragma once
/// `gaussweep help`: what the parser knows, for people, as a manual page, and for the shell.

#include <string>

#include "kernels/registry/method.hpp"

namespace CLI {
class App;
}

namespace gaussweep::driver {

/// @pre all other commands are there
void add_help_command(CLI::App& app, const Registry& registry);

/// Ends the help of each command with examples.
void add_examples(CLI::App& app);

/// The manual page (troff) and the bash completion, both made of the parser's commands and options; the
/// completion knows methods, problems and other words that options take.
std::string manual_page(const CLI::App& app);
std::string bash_completion(const CLI::App& app, const Registry& registry);

}  // namespace gaussweep::driver
