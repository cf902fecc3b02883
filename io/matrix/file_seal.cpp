#include "io/matrix/file_seal.hpp"

#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "io/files/errors.hpp"

namespace gaussweep::io {
namespace {

/// Reads from `offset` until `bytes` are there or the file ends. @return how many; −1: errno
ssize_t read_fully(int fd, char* out, std::size_t bytes, off_t offset) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t count = pread(fd, out + done, bytes - done, offset + static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return static_cast<ssize_t>(done);
}

/// The seal's text for what follows in the file, padded with NUL; nothing where reading failed (errno).
std::optional<std::string> seal_of_rest(int fd) {
  std::vector<char> buffer(1 << 20);
  unsigned long crc = crc32(0, nullptr, 0);
  unsigned long long bytes = 0;
  for (;;) {
    const ssize_t count =
        read_fully(fd, buffer.data(), buffer.size(), static_cast<off_t>(seal_bytes + bytes));
    if (count < 0) return std::nullopt;
    crc = crc32(crc, reinterpret_cast<const unsigned char*>(buffer.data()), static_cast<unsigned>(count));
    bytes += static_cast<unsigned long long>(count);
    if (static_cast<std::size_t>(count) < buffer.size()) break;
  }
  char text[seal_bytes] = "";
  std::snprintf(text, sizeof text, "gaussweep matrix 1 crc32 %08lx bytes %llu\n", crc, bytes);
  return std::string(text, sizeof text);
}

}  // namespace

std::string make_seal(int fd) {
  std::optional<std::string> seal = seal_of_rest(fd);
  if (!seal)
    throw StorageError(std::string("a file cannot be read after it was written: ") + std::strerror(errno));
  return std::move(*seal);
}

std::string broken_seal(int fd) {
  std::string seal(seal_bytes, '\0');
  const ssize_t count = read_fully(fd, seal.data(), seal.size(), 0);
  if (count < 0) return std::string("it cannot be read: ") + std::strerror(errno);
  if (static_cast<std::size_t>(count) < seal.size()) return "it is shorter than its seal";
  if (seal.compare(0, 17, "gaussweep matrix ") != 0) return "it has no seal of gaussweep";
  const std::optional<std::string> expected = seal_of_rest(fd);
  if (!expected) return std::string("it cannot be read: ") + std::strerror(errno);
  return *expected == seal ? "" : "its checksum does not agree with what it holds";
}

}  // namespace gaussweep::io
