#pragma once
/// Child processes: workers, and short helpers whose output is captured.

#include <string>
#include <sys/types.h>
#include <vector>

#include "driver/system/channel.hpp"
#include "driver/system/step_note.hpp"
#include "io/files/open_file.hpp"

namespace gaussweep::driver {

/// The exit status of a process, or the signal that ended it.
struct Ending {
  bool exited = false;  ///< false: a signal ended the process
  int code = 0;         ///< exit status or signal number
  /// Returns "signal 11 (Segmentation fault)" or "exit status 3".
  std::string text() const;
};

/// Returns this process's environment without the MPI launcher's variables. `changes` ("NAME=value") are
/// added or replace variables.
std::vector<std::string> child_environment(const std::vector<std::string>& changes);

/// A child process in a new session and process group. Its descriptor 3 is one end of a socket pair. Its
/// descriptor 4 is the shared memory of step_note.hpp, if the system provides it. Its standard input is
/// /dev/null, and its output is appended to a log file. The destructor kills the child.
class Process {
 public:
  /// Starts this program, or the one at the path `program`, with `arguments`.
  /// @throws io::StorageError if the log cannot be opened
  /// @throws std::runtime_error if no process can start
  Process(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
          const std::string& log, const std::string& program = {});
  ~Process() { kill(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  Channel& channel() { return channel_; }
  const Channel& channel() const { return channel_; }
  /// Returns the step that the child noted last; also after its end.
  std::string step() const { return step_.read(); }
  /// Returns true if the child has ended, and sets `how`. Does not wait.
  bool poll_end(Ending& how);
  /// Kills the whole group and waits for the child to end, at most 10 seconds.
  /// @return false if the system could not end it (a process stuck in the kernel)
  bool kill() noexcept;

 private:
  pid_t pid_ = -1;
  Channel channel_;
  StepNote step_;
};

/// Runs this program, or the one at the path `program`, with `arguments`, and returns its standard output.
/// @throws std::runtime_error if the program cannot start, fails, takes longer than `timeout_seconds` or
/// prints more than 1 MiB
std::string captured_output(const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment, double timeout_seconds,
                            const std::string& program = {});

/// Makes the kernel kill this process when its parent ends. @return false if `parent` has already ended
bool die_with_parent(pid_t parent);

/// Restarts this program by execv with the environment variable `name` set to `value`, for libraries that
/// read it when they are loaded. Returns if it already has this value or if execv fails.
void restart_with_variable(const char* name, const char* value, char** argv);

/// Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed. Otherwise the next opened file,
/// such as the journal, would get that number and receive the text that is written to standard error.
void open_standard_descriptors();

/// Returns an environment variable; empty if it is not set.
std::string environment_value(const char* name);

}  // namespace gaussweep::driver
