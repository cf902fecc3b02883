#pragma once
/// Messages between a supervisor and its worker: CBOR objects, each after its length, over an unnamed socket.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

namespace gaussweep::driver {

/// The other end is gone.
struct ChannelClosed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One end of a stream socket; owns the descriptor.
class Channel {
 public:
  Channel() = default;
  explicit Channel(int fd) : fd_(fd) {}
  ~Channel() { close(); }
  Channel(Channel&& other) noexcept { swap(other); }
  Channel& operator=(Channel&& other) noexcept {
    Channel moved(std::move(other));
    swap(moved);
    return *this;
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  bool open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  void close() noexcept;
  /// Writes the whole message. @throws ChannelClosed
  void send(const nlohmann::json& message);
  /// The next whole message, waiting for it at most `timeout_ms` (0: not at all, -1: for ever).
  /// @throws ChannelClosed at the end of the stream, std::runtime_error on a message that is no CBOR or too
  /// long
  std::optional<nlohmann::json> receive(int timeout_ms);

 private:
  void swap(Channel& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(input_, other.input_);
  }
  std::optional<nlohmann::json> take_message();
  int fd_ = -1;
  std::string input_;
};

}  // namespace gaussweep::driver
