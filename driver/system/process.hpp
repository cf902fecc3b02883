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

/// A child in a session (and process group) of its own, with one end of a socket pair as descriptor 3, a page
/// for its step as descriptor 4 (or none), standard input from /dev/null, output appended to a log file,
/// which may be given later. Its destructor ends it.
class Process {
 public:
  Process() = default;
  /// Starts this program again with `arguments`.
  /// @throws io::StorageError where the log cannot be opened, std::runtime_error where no process can start
  Process(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
          const std::string& log);
  /// As above, without a log yet: what the child says is kept for `give_log`.
  Process(const std::vector<std::string>& arguments, const std::vector<std::string>& environment);
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
  /// The log of a child that was started without one: what it said so far, then what it says after
  /// `take_log`, which it calls before it reads its first message. To be called once, before anything is
  /// sent.
  /// @throws io::StorageError where the log cannot be opened
  void give_log(const std::string& log);
  /// What it noted last, in descriptor 4; also after its end.
  std::string step() const { return step_.read(); }
  /// If it has ended: how. Does not wait.
  bool ended(Ending& how);
  /// Kills the whole group and waits until the child is gone, at most 10 seconds.
  /// @return false where the system could not end it (a process stuck in the kernel)
  bool end() noexcept;

 private:
  void start(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
             const io::Descriptor& output);
  void keep_said() noexcept;
  void swap(Process& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(channel_, other.channel_);
    std::swap(step_, other.step_);
    std::swap(said_, other.said_);
    std::swap(said_bytes_, other.said_bytes_);
    std::swap(log_, other.log_);
  }
  pid_t pid_ = -1;
  Channel channel_;
  StepNote step_;
  io::Descriptor said_;   ///< what a child says that has no log yet
  off_t said_bytes_ = 0;  ///< so many of it are in the log
  io::Descriptor log_;    ///< of a child that was started without one
};

/// Runs this program with `arguments`, returns what it printed on standard output.
/// @throws std::runtime_error where it cannot start, ends badly, or takes longer than `timeout_seconds`
std::string capture_self(const std::vector<std::string>& arguments,
                         const std::vector<std::string>& environment, double timeout_seconds);

/// In a child: waits for the log that `give_log` hands over, and writes standard output and error there from
/// now on. Returns too where the other end of the socket is gone.
void take_log(int socket);

/// Ends this process, for sure, when its parent ends. @return false where `parent` is its parent no more: it
/// ended before this call
bool die_with(pid_t parent);

/// Starts this very program anew in this process, with `name` set to `value`, unless it is already: for
/// libraries that read it while they are loaded, before any code of ours. Returns where there is nothing to
/// do, or no way.
void restart_with(const char* name, const char* value, char** argv);

/// Opens what is closed of the descriptors 0, 1 and 2 on /dev/null. Else the next file that is opened, a
/// journal maybe, takes the place, and what is said on standard error goes into it.
void open_standard_descriptors();

/// A variable of this process's environment; empty where it is not set.
std::string environment_value(const char* name);

}  // namespace gaussweep::driver
