#pragma once
/// Opens files in untrusted folders safely: only regular files, without blocking, relative to an open folder.
/// This is necessary because a name may refer to a FIFO (open waits for the other end) or to a device
/// (/dev/zero never ends). A link may lead to another location.

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
  /// Releases ownership without closing.
  int release() { return std::exchange(fd_, -1); }
  /// Closes the file, if one is open.
  void reset();
  /// Returns a path with which libraries and streams open the same file again, even if its name now refers to
  /// another file.
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_ = -1;
};

/// An opened file, or the reason why it could not be opened.
struct Opened {
  Descriptor file;
  int error = 0;    ///< errno if open failed; 0 on success, or if it is no regular file
  std::string why;  ///< empty on success
  explicit operator bool() const { return file.open(); }
};

/// Returns the kind of file of a st_mode: "a FIFO".
std::string_view file_kind(unsigned mode);

/// Opens a file if it is regular; never blocks. Follows links unless `flags` has O_NOFOLLOW.
/// @param folder base of a relative `path`: AT_FDCWD or a folder's descriptor
/// @param flags of open(2); O_CLOEXEC, O_NOCTTY and O_NONBLOCK (which regular files ignore) are added. Files
/// created with O_CREAT are private to the user.
Opened open_regular(const std::filesystem::path& path, int flags = O_RDONLY, int folder = AT_FDCWD);

/// Compares an open file with the file that a name refers to now. A lock belongs to a file, not to its name.
/// A process that opens a file by name and locks it must therefore check that the name still refers to this
/// file.
/// @return 0 if they are the same, ESTALE if they differ, else errno
int check_still_named(const std::filesystem::path& path, int fd);

/// Opens a folder, so that files in it can be opened, renamed and removed even if its name changes. The last
/// component of the path must be a folder; links are refused. On failure `error` is errno.
Opened open_folder(const std::filesystem::path& path);

}  // namespace gaussweep::io
