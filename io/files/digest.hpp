#pragma once
/// SHA-256 and CRC-32 of data, in one call or block by block.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace gaussweep::io {

/// An incremental computation of one SHA-256 digest. @throws std::runtime_error if libcrypto fails
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  /// Adds the next bytes.
  void add(const void* data, std::size_t bytes);
  /// Returns the digest as 64 hexadecimal digits. May be called once.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Return the SHA-256 digest of bytes or of a file as 64 hexadecimal digits.
/// @throws InputError if the file cannot be read
std::string sha256(const std::string& bytes);
std::string sha256_file(const std::filesystem::path& path);

/// Returns the CRC-32 (as in zlib and PNG) of bytes; `before` is the CRC-32 of the preceding bytes.
std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before = 0);
/// Returns a CRC-32 as 8 lower-case hexadecimal digits.
std::string crc32_text(std::uint32_t crc);

}  // namespace gaussweep::io
