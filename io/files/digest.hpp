#pragma once
/// SHA-256 and CRC-32, also of what comes piece by piece.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace gaussweep::io {

/// One digest. @throws std::runtime_error where libcrypto gives none
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  /// Takes in the next bytes.
  void add(const void* data, std::size_t bytes);
  /// 64 hexadecimal digits; once.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// SHA-256 of bytes or of a file as 64 hexadecimal digits.
/// @throws InputError where the file cannot be read
std::string sha256(const std::string& bytes);
std::string sha256_file(const std::filesystem::path& path);

/// CRC-32 (zlib, PNG) of bytes, going on from that of the bytes before.
std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before = 0);
/// The same as 8 lower-case hexadecimal digits.
std::string crc32_text(std::uint32_t crc);

}  // namespace gaussweep::io
