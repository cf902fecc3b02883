#pragma once
/// Work in a child process, for what may crash or never come to an end: the child computes and writes bytes,
/// this process reads them.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "io/files/open_file.hpp"

namespace gaussweep::io {

/// Bytes on their way out of the child; numbers and texts in this machine's own form.
class ChildOutput {
 public:
  explicit ChildOutput(int fd) : fd_(fd) {}
  void put(const void* bytes, std::size_t count);
  void put(std::int64_t value) { put(&value, sizeof value); }
  void put(double value) { put(&value, sizeof value); }
  void put(std::string_view text) {
    put(static_cast<std::int64_t>(text.size()));
    put(text.data(), text.size());
  }
  /// Sends what is still gathered. @return false where nobody takes it
  bool flush();

 private:
  int fd_;
  std::string gathered_;
  bool broken_ = false;
};

/// The child did not get to its end: how, in words that go on after the name of what was done.
struct ChildFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A child of this process that runs `work` and ends; it is killed where this process ends, or this object.
/// Of this process's threads it has only the one that made it. @pre no rank of MPI, no CUDA
class Child {
 public:
  /// @param seconds that it may take
  /// @throws ChildFailed where no process can be started
  Child(const std::function<void(ChildOutput&)>& work, double seconds);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Takes the next bytes. @throws ChildFailed: it ended before, or its time is over
  void get(void* bytes, std::size_t count);
  std::int64_t integer();
  double real();
  std::string text();

 private:
  [[noreturn]] void fail();
  void fill();
  pid_t pid_ = -1;
  Descriptor pipe_;
  double seconds_, deadline_;
  std::string buffer_;
  std::size_t next_ = 0;
};

}  // namespace gaussweep::io
