#pragma once
/// Files that others may have put in our way: opened only where they are regular, without ever waiting, and
/// inside a folder that is held. A name may lead to a FIFO (opening it waits for its other end) or to a
/// device (/dev/zero never ends). It may also lead through a link to somewhere else.

#include <fcntl.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace gaussweep::io {

/// Owns a file descriptor; -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }
  int fd() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  /// Gives it away unclosed.
  int release() { return std::exchange(fd_, -1); }
  void reset();
  /// A name under which libraries and streams open the same file again, whatever its own name leads to by
  /// now.
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_ = -1;
};

/// A file that was opened, or why not.
struct Opened {
  Descriptor file;
  int error = 0;    ///< errno where it could not be opened; 0 where it was, and where it is no regular file
  std::string why;  ///< empty where it was opened
  explicit operator bool() const { return file.open(); }
};

/// What a file of this st_mode is, in words: "a FIFO".
std::string_view file_kind(unsigned mode);

/// Opens a regular file and nothing else; never waits. Links are followed unless `flags` has O_NOFOLLOW.
/// @param folder where a relative `path` begins: AT_FDCWD or a folder's descriptor
/// @param flags of open(2); O_CLOEXEC, O_NOCTTY and O_NONBLOCK (which regular files ignore) are added. A file
/// that O_CREAT makes is private to the user.
Opened open_regular(const std::filesystem::path& path, int flags = O_RDONLY, int folder = AT_FDCWD);

/// Compares the file that a name leads to with an open one. A lock holds a file, not its name: who relies on
/// a lock by a name checks it.
/// @return 0 if they are the same, ESTALE if they differ, else errno
int check_name(const std::filesystem::path& path, int fd);

/// A folder that is held, to open, rename and remove in it whatever its name leads to by then. Its last
/// component must be a folder in truth: a link is refused. @return not open: errno in `error`
Opened hold_folder(const std::filesystem::path& path);

}  // namespace gaussweep::io
