#pragma once
/// What is said to people. Standard error may be full, closed, or read by nobody: that costs words, never a
/// sweep, and the run directory's logs have them all. Standard output that is lost is a failure of the
/// command that wrote it.

#include <string>

namespace gaussweep::driver {

/// Writes to standard error what it takes now; on a terminal as terminal_text. Throws nothing, and waits no
/// longer than a moment.
void say(const std::string& text);
/// The same, with what moves a terminal's cursor.
void say_as_it_is(const std::string& text) noexcept;

/// From now on standard output, where it is a terminal, gets terminal_text of all that is printed.
void guard_terminal();

/// From now on messages (spdlog's) go to standard error as `say` does it.
void start_messages();
/// From now on they go to this file too, and those of before: created, private, appended to.
/// @throws io::StorageError where it cannot be opened
void keep_messages(const std::string& path);
/// A line for that file alone. What the file does not take is lost: the journal, on the same medium, says so.
void log_line(const std::string& text);

/// Sends off what was printed on standard output. @return why some of it was lost, in the system's words;
/// empty where nothing was
std::string lost_output();

}  // namespace gaussweep::driver
