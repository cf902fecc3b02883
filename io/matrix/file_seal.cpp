/// Computes and checks the seal of the matrix store's files. The seal is a text in the first 512 bytes of a
/// file, with the CRC-32 and the length of the rest.

#include "io/matrix/file_seal.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "io/files/errors.hpp"
#include "io/files/parallel_for.hpp"

namespace gaussweep::io {
namespace {

constexpr off_t part_bytes = 8 << 20;  // bytes that a thread reads per step
constexpr std::string_view seal_prefix = "gaussweep matrix ";

/// Reads up to `bytes` bytes from `offset`; fewer only at the end of the file. @return the number of bytes;
/// −1 on an error (errno)
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

/// Returns the checksum of a part of a file, computed by one thread.
SealSum sum_of_part(int fd, off_t begin, off_t end) {
  SealSum sum;
  std::vector<char> buffer(static_cast<std::size_t>(std::min<off_t>(end - begin, 1 << 20)));
  while (begin < end) {
    const auto block_bytes = static_cast<std::size_t>(std::min<off_t>(end - begin, 1 << 20));
    const ssize_t count = read_fully(fd, buffer.data(), block_bytes, begin);
    if (count < 0) throw StorageError(std::string("cannot be read: ") + std::strerror(errno));
    if (static_cast<std::size_t>(count) < block_bytes)
      throw StorageError("it became shorter while it was read");
    sum.add(buffer.data(), block_bytes);
    begin += static_cast<off_t>(block_bytes);
  }
  return sum;
}

}  // namespace

void SealSum::add(const char* data, std::size_t bytes) {
  bytes_ += bytes;
  while (bytes > 0) {
    const std::size_t block_bytes = std::min<std::size_t>(bytes, 1 << 30);  // zlib counts in 32 bits
    crc_ = crc32(crc_, reinterpret_cast<const unsigned char*>(data), static_cast<unsigned>(block_bytes));
    data += block_bytes;
    bytes -= block_bytes;
  }
}

void SealSum::add(const SealSum& next) {
  crc_ = crc32_combine(crc_, next.crc_, static_cast<z_off_t>(next.bytes_));
  bytes_ += next.bytes_;
}

std::string SealSum::seal() const {
  char text[seal_bytes] = "";
  std::snprintf(text, sizeof text, "gaussweep matrix 1 crc32 %08lx bytes %llu\n", crc_, bytes_);
  return std::string(text, sizeof text);
}

SealSum sum_of_file(int fd, off_t begin, off_t end) {
  SealSum sum;
  while (begin < end) {
    const auto parts = static_cast<std::size_t>((end - begin + part_bytes - 1) / part_bytes);
    std::vector<SealSum> sums(std::min(parts, parallel_threads()));
    // Part i of this round is [limit(i), limit(i + 1)); a round has at most one part per thread.
    const auto limit = [&](std::size_t i) {
      return std::min(end, begin + static_cast<off_t>(i) * part_bytes);
    };
    parallel_for(sums.size(), [&](std::size_t i) { sums[i] = sum_of_part(fd, limit(i), limit(i + 1)); });
    for (const SealSum& each : sums) sum.add(each);
    begin = limit(sums.size());
  }
  return sum;
}

bool has_seal(int fd) {
  std::string start(seal_prefix.size(), '\0');
  return read_fully(fd, start.data(), start.size(), 0) == static_cast<ssize_t>(start.size()) &&
         start == seal_prefix;
}

std::string broken_seal(int fd) {
  std::string seal(seal_bytes, '\0');
  const ssize_t count = read_fully(fd, seal.data(), seal.size(), 0);
  if (count < 0) return std::string("it cannot be read: ") + std::strerror(errno);
  if (static_cast<std::size_t>(count) < seal.size()) return "it is shorter than its seal";
  if (seal.compare(0, seal_prefix.size(), seal_prefix) != 0) return "it has no seal of gaussweep";
  struct stat file_status {};
  if (fstat(fd, &file_status) != 0) return std::string("its size cannot be read: ") + std::strerror(errno);
  try {
    const std::string expected = sum_of_file(fd, static_cast<off_t>(seal_bytes), file_status.st_size).seal();
    return expected == seal ? "" : "its checksum does not match its contents";
  } catch (const StorageError& error) {
    return error.what();
  }
}

}  // namespace gaussweep::io
