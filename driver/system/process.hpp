#pragma once
/// Child processes: the worker (a session of its own, ended for sure) and short helpers whose output is read.

#include <string>
#include <vector>

#include <sys/types.h>

#include "driver/system/channel.hpp"
#include "driver/system/step_note.hpp"
#include "io/files/open_file.hpp"

namespace gaussweep::driver {

/// How a process ended.
struct Ending {
  bool exited = false;  ///< else by signal
  int code = 0;         ///< exit status or signal number
  /// "signal 11 (Segmentation fault)" or "exit status 3".
  std::string words() const;
};

/// The environment of a child: this process's without the MPI launcher's variables, with `changes`
/// ("NAME=value").
std::vector<std::string> child_environment(const std::vector<std::string>& changes);

/// A child in a session (and process group) of its own. Descriptor 3 is one end of a socket pair, descriptor
/// 4 a page for its step (or none). Standard input is /dev/null; output is appended to a log file, which may
/// be given later. Its destructor ends it.
class Process {
 public:
  Process() = default;
  /// Starts this program again with `arguments`; or another one, where `program` is its path.
  /// @throws io::StorageError where the log cannot be opened, std::runtime_error where no process can start
  Process(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
          const std::string& log, const std::string& program = {});
  ~Process() { end(); }
  Process(Process&& other) noexcept { swap(other); }
  Process& operator=(Process&& other) noexcept {
    Process moved(std::move(other));
    swap(moved);
    return *this;
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  Channel& channel() { return channel_; }
  const Channel& channel() const { return channel_; }
  /// What it noted last, in descriptor 4; also after its end.
  std::string step() const { return step_.read(); }
  /// If it has ended: how. Does not wait.
  bool ended(Ending& how);
  /// Kills the whole group and waits until the child is gone, at most 10 seconds.
  /// @return false where the system could not end it (a process stuck in the kernel)
  bool end() noexcept;

 private:
  void swap(Process& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(channel_, other.channel_);
    std::swap(step_, other.step_);
  }
  pid_t pid_ = -1;
  Channel channel_;
  StepNote step_;
};

/// Runs this program (or that of the path `program`) with `arguments`, returns what it printed on standard
/// output.
/// @throws std::runtime_error if it cannot start, ends badly, takes longer than `timeout_seconds` or prints
/// more than a mebibyte
std::string capture_self(const std::vector<std::string>& arguments,
                         const std::vector<std::string>& environment, double timeout_seconds,
                         const std::string& program = {});

/// Ends this process, for sure, when its parent ends. @return false where `parent` is its parent no more: it
/// ended before this call
bool die_with(pid_t parent);

/// Starts this very program anew in this process, with `name` set to `value`, unless it is already. It is for
/// libraries that read it while they are loaded, before any code of ours. Returns where there is nothing to
/// do, or no way.
void restart_with(const char* name, const char* value, char** argv);

/// Opens what is closed of the descriptors 0, 1 and 2 on /dev/null. Else the next file that is opened, a
/// journal maybe, takes the place, and what is said on standard error goes into it.
void open_standard_descriptors();

/// A variable of this process's environment; empty where it is not set.
std::string environment_value(const char* name);

}  // namespace gaussweep::driver
