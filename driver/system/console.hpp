#pragma once
/// Output for users. If standard error is full, closed, or not read, messages to it are lost, but the logs in
/// the run directory contain all of them. If text on standard output is lost, the command that wrote it
/// fails.

#include <string>

namespace gaussweep::driver {

/// Writes to standard error without blocking for long. If standard error is a terminal, replaces control
/// characters (terminal_text). Does not throw.
void print_stderr(const std::string& text);
/// Like `print_stderr`, but keeps control sequences, such as those that move the cursor.
void print_stderr_raw(const std::string& text) noexcept;

/// If standard output is a terminal, applies terminal_text to everything that is printed there from now on.
void sanitize_output();

/// Sends the messages of spdlog to standard error by `print_stderr_raw` from now on.
void start_logging();
/// Appends all messages to this file from now on, and also the messages before this call. Only the user may
/// read a created file. @throws io::StorageError if it cannot be opened
void log_to_file(const std::string& path);
/// Writes a line only to the file of `log_to_file`. Write errors are ignored, because the journal on the same
/// medium reports them.
void log_line(const std::string& text);

/// Flushes standard output. @return the system's error text if output was lost; otherwise empty
std::string flush_output();

}  // namespace gaussweep::driver
