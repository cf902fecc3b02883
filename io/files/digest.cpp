/// Computes SHA-256 and CRC-32 of data, in one call or block by block.

#include "io/files/digest.hpp"

#include <openssl/evp.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "io/files/errors.hpp"
#include "io/files/open_file.hpp"

namespace gaussweep::io {
namespace {

/// Throws unless libcrypto's call worked.
void require(bool worked) {
  if (!worked) throw std::runtime_error("libcrypto has no SHA-256");
}

}  // namespace

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  require(state_->context != nullptr && EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() = default;

void Sha256::add(const void* data, std::size_t bytes) {
  require(EVP_DigestUpdate(state_->context, data, bytes) == 1);
}

std::string Sha256::hex() {
  unsigned char value[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  require(EVP_DigestFinal_ex(state_->context, value, &length) == 1);
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += digits[value[i] >> 4];
    text += digits[value[i] & 15];
  }
  return text;
}

std::string sha256(const std::string& bytes) {
  Sha256 digest;
  digest.add(bytes.data(), bytes.size());
  return digest.hex();
}

std::string sha256_file(const std::filesystem::path& path) {
  const Opened opened = open_regular(path);
  if (!opened) throw InputError(path.string() + ": cannot be opened: " + opened.why);
  std::ifstream file(opened.file.path(), std::ios::binary);
  if (!file) throw InputError(path.string() + ": cannot be opened: " + std::strerror(errno));
  Sha256 digest;
  std::vector<char> buffer(1 << 20);
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    digest.add(buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof()) throw InputError(path.string() + ": cannot be read: " + std::strerror(errno));
  return digest.hex();
}

std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string crc32_text(std::uint32_t crc) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(crc));
  return text;
}

}  // namespace gaussweep::io
