#include "io/seal.hpp"

#include <zlib.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

#include "io/errors.hpp"

namespace gaussweep::io {
namespace {

/// The seal's text for what follows in `file`, padded with NUL.
std::string seal_of_rest(std::ifstream& file) {
  std::vector<char> buffer(1 << 20);
  unsigned long crc = crc32(0, nullptr, 0);
  unsigned long long bytes = 0;
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto count = static_cast<std::size_t>(file.gcount());
    crc = crc32(crc, reinterpret_cast<const unsigned char*>(buffer.data()), static_cast<unsigned>(count));
    bytes += count;
  }
  char text[seal_bytes] = "";
  std::snprintf(text, sizeof text, "gaussweep matrix 1 crc32 %08lx bytes %llu\n", crc, bytes);
  return std::string(text, sizeof text);
}

}  // namespace

std::string make_seal(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(seal_bytes);
  if (!file)
    throw StorageError(path.string() + ": cannot be read after it was written: " + std::strerror(errno));
  std::string seal = seal_of_rest(file);
  if (file.bad())
    throw StorageError(path.string() + ": cannot be read after it was written: " + std::strerror(errno));
  return seal;
}

std::string broken_seal(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::string("it cannot be opened: ") + std::strerror(errno);
  std::string seal(seal_bytes, '\0');
  file.read(seal.data(), static_cast<std::streamsize>(seal.size()));
  if (file.bad()) return std::string("it cannot be read: ") + std::strerror(errno);
  if (!file) return "it is shorter than its seal";
  if (seal.compare(0, 17, "gaussweep matrix ") != 0) return "it has no seal of gaussweep";
  const bool whole = seal_of_rest(file) == seal;
  if (file.bad()) return std::string("it cannot be read: ") + std::strerror(errno);
  return whole ? "" : "its checksum does not agree with what it holds";
}

}  // namespace gaussweep::io
