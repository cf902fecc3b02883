#pragma once
/// SHA-256 of what comes piece by piece.

#include <cstddef>
#include <memory>
#include <string>

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

}  // namespace gaussweep::io
