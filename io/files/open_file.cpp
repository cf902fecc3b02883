/// Opens files in untrusted folders safely: only regular files, without blocking, relative to an open folder.

#include "io/files/open_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gaussweep::io {
namespace {

Opened open_error(int error) {
  return {Descriptor(), error, std::strerror(error)};
}

Opened not_regular(unsigned mode) {
  return {Descriptor(), 0, "it is " + std::string(file_kind(mode)) + ", not a regular file"};
}

}  // namespace

void Descriptor::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

std::string_view file_kind(unsigned mode) {
  if (S_ISREG(mode)) return "a regular file";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "a link";
}

Opened open_regular(const std::filesystem::path& path, int flags, int folder) {
  // Checks the kind of file before opening it, because opening some devices has side effects. Checks again
  // afterwards, because the file may have been replaced in between.
  struct stat info {};
  const int links = (flags & O_NOFOLLOW) != 0 ? AT_SYMLINK_NOFOLLOW : 0;
  if (::fstatat(folder, path.c_str(), &info, links) == 0 && !S_ISREG(info.st_mode))
    return not_regular(info.st_mode);
  int fd = -1;
  do {
    fd = ::openat(folder, path.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return open_error(errno);
  Descriptor file(fd);
  if (::fstat(fd, &info) != 0) return open_error(errno);
  if (!S_ISREG(info.st_mode)) return not_regular(info.st_mode);
  return {std::move(file), 0, {}};
}

int check_still_named(const std::filesystem::path& path, int fd) {
  struct stat opened {};
  struct stat named {};
  if (::fstat(fd, &opened) != 0 || ::stat(path.c_str(), &named) != 0) return errno;
  return named.st_dev == opened.st_dev && named.st_ino == opened.st_ino ? 0 : ESTALE;
}

Opened open_folder(const std::filesystem::path& path) {
  // With a trailing "/", open follows a link even with O_NOFOLLOW.
  std::string name = path.string();
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  Descriptor folder(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.open()) return {std::move(folder), 0, {}};
  const int error = errno;
  struct stat info {};
  const bool is_link = ::lstat(name.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
  return {Descriptor(), error, is_link ? "it is a link; allowed: a folder" : std::strerror(error)};
}

}  // namespace gaussweep::io
