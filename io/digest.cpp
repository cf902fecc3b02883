#include <openssl/evp.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "io/errors.hpp"
#include "io/matrix_file.hpp"

namespace gaussweep::io {
namespace {

/// A running SHA-256.
class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    require(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  void add(const void* data, std::size_t bytes) {
    require(EVP_DigestUpdate(context_.get(), data, bytes) == 1);
  }
  std::string hex() {
    unsigned char value[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    require(EVP_DigestFinal_ex(context_.get(), value, &length) == 1);
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (unsigned i = 0; i < length; ++i) {
      text += digits[value[i] >> 4];
      text += digits[value[i] & 15];
    }
    return text;
  }

 private:
  static void require(bool worked) {
    if (!worked) throw std::runtime_error("libcrypto has no SHA-256");
  }
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256(const std::string& bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.hex();
}

std::string sha256_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path.string() + ": cannot be opened: " + std::strerror(errno));
  Digest digest;
  std::vector<char> buffer(1 << 20);
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    digest.add(buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof()) throw InputError(path.string() + ": cannot be read: " + std::strerror(errno));
  return digest.hex();
}

}  // namespace gaussweep::io
