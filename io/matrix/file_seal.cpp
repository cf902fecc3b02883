#include "io/matrix/file_seal.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "io/files/errors.hpp"
#include "io/files/shared_out.hpp"

namespace gaussweep::io {
namespace {

constexpr unsigned long long part_bytes = 8 << 20;  // of a thread at a time

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

/// The CRC-32 of a part of a file, or as much of it as there is.
struct Part {
  unsigned long crc = crc32(0, nullptr, 0);
  unsigned long long bytes = 0;
  int error = 0;
};

Part part_of(int fd, off_t begin) {
  Part part;
  std::vector<char> buffer(1 << 20);
  while (part.bytes < part_bytes) {
    const ssize_t count =
        read_fully(fd, buffer.data(), buffer.size(), begin + static_cast<off_t>(part.bytes));
    if (count < 0) {
      part.error = errno;
      return part;
    }
    part.crc =
        crc32(part.crc, reinterpret_cast<const unsigned char*>(buffer.data()), static_cast<unsigned>(count));
    part.bytes += static_cast<unsigned long long>(count);
    if (static_cast<std::size_t>(count) < buffer.size()) break;
  }
  return part;
}

/// The seal's text for what follows in the file, padded with NUL; nothing where reading failed (errno).
std::optional<std::string> seal_of_rest(int fd, const std::function<void()>& between = {}) {
  struct stat facts {};
  if (fstat(fd, &facts) != 0) return std::nullopt;
  unsigned long crc = crc32(0, nullptr, 0);
  unsigned long long bytes = 0;
  bool ended = false;
  while (!ended) {
    const auto here = static_cast<off_t>(seal_bytes + bytes);
    const auto left = static_cast<std::size_t>(std::max<off_t>(0, facts.st_size - here));
    std::vector<Part> parts(std::clamp<std::size_t>(left / part_bytes + 1, 1, sharing_threads()));
    share_out(parts.size(),
              [&](std::size_t i) { parts[i] = part_of(fd, here + static_cast<off_t>(i * part_bytes)); });
    for (const Part& part : parts) {
      if (part.error != 0) {
        errno = part.error;
        return std::nullopt;
      }
      crc = crc32_combine(crc, part.crc, static_cast<z_off_t>(part.bytes));
      bytes += part.bytes;
      ended = part.bytes < part_bytes;
      if (ended) break;
    }
    if (between) between();
  }
  char text[seal_bytes] = "";
  std::snprintf(text, sizeof text, "gaussweep matrix 1 crc32 %08lx bytes %llu\n", crc, bytes);
  return std::string(text, sizeof text);
}

}  // namespace

std::string make_seal(int fd, const std::function<void()>& between) {
  std::optional<std::string> seal = seal_of_rest(fd, between);
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
