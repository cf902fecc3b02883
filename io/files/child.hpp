#pragma once
/// Runs work that may crash or hang in a child process. The child writes its result to a pipe, and this
/// process reads it.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "io/files/open_file.hpp"

namespace gaussweep::io {

/// The child's output stream; numbers and texts are in this machine's binary format.
class ChildOutput {
 public:
  explicit ChildOutput(int fd) : fd_(fd) {}
  /// Appends a value to the stream. A text is sent as its length and its bytes.
  void put(const void* bytes, std::size_t count);
  void put(std::int64_t value) { put(&value, sizeof value); }
  void put(double value) { put(&value, sizeof value); }
  void put(std::string_view text) {
    put(static_cast<std::int64_t>(text.size()));
    put(text.data(), text.size());
  }
  /// Sends the buffered bytes. @return false if the pipe has no reader
  bool flush();

 private:
  int fd_;
  std::string buffered_;
  bool broken_ = false;  ///< true if the pipe has no reader
};

/// The child did not finish. The message is a predicate, for which the caller adds a subject: "ended early".
struct ChildFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// No child process could be started: too many processes or open files, or no memory. The message is the
/// system's.
struct NoChild : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A child process that runs `work` and ends. It is killed if this process ends or this object is destroyed.
/// fork copies only the calling thread, so other threads of this process do not run in the child. @pre this
/// process is no MPI rank and does not use CUDA
class Child {
 public:
  /// @param seconds time limit
  /// @throws NoChild if no process can be started
  Child(const std::function<void(ChildOutput&)>& work, double seconds);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Receives the next bytes. @throws ChildFailed if the child ended early or timed out
  void get(void* bytes, std::size_t count);
  /// Receive the next value, which the child sent with ChildOutput::put. @throws ChildFailed as get
  std::int64_t integer();
  double real();
  std::string text();

 private:
  /// Waits for the end of the child and throws ChildFailed with the reason.
  [[noreturn]] void fail();
  /// Refills `buffer_` from the pipe. @throws ChildFailed
  void fill();
  pid_t pid_ = -1;
  Descriptor pipe_;
  double seconds_, deadline_;  ///< the time limit, and the time at which it ends
  std::string buffer_;
  std::size_t next_ = 0;  ///< position of the next byte in `buffer_`
};

}  // namespace gaussweep::io
