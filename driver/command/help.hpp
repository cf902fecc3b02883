#pragma once
/// `gaussweep help`: what the parser knows, for people, as a manual page, and for the shell.

#include <string>

namespace CLI {
class App;
}

namespace gaussweep::driver {

/// @pre all other commands are there
void add_help_command(CLI::App& app);

/// Ends the help of each command with examples.
void add_examples(CLI::App& app);

/// The manual page (troff) and the bash completion, both made of the parser's commands and options.
std::string manual_page(const CLI::App& app);
std::string bash_completion(const CLI::App& app);

}  // namespace gaussweep::driver
