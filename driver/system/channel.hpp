#pragma once
/// Messages between a supervisor and its worker: CBOR objects, each after its length, over an unnamed socket.
/// The other end may be another build or a damaged process. Length, nesting and number of values of what it
/// sends are checked before they cost memory or stack.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

namespace gaussweep::driver {

/// The largest message. A record of a million samples and a million iterations has 55 MB.
constexpr std::size_t longest_message = std::size_t{64} << 20;
/// Levels of arrays and objects in a message; ours have fewer than ten.
constexpr std::size_t deepest_message = 32;
/// Numbers, texts, arrays and objects in a message. A record of a million samples has six million.
constexpr std::size_t most_message_values = 8'000'000;

/// The other end is gone.
struct ChannelClosed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A message that is longer than `longest_message`.
struct MessageTooLong : std::runtime_error {
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
  /// Writes the whole message and waits until the other end has room for it. Of the two ends only one may do
  /// this: if both waited, neither would read. @throws ChannelClosed, MessageTooLong (then nothing is sent)
  void send(const nlohmann::json& message);
  /// Writes what the other end has room for, and returns. `receive` writes the rest.
  /// @throws ChannelClosed, MessageTooLong (then nothing is sent)
  void post(const nlohmann::json& message);
  /// Returns true if part of what was posted is not written yet.
  bool is_unsent() const { return written_ < output_.size(); }
  /// Returns the next whole message, or nothing if it is not there within `timeout_ms` (0: reads once, -1:
  /// waits for ever). Data that keep arriving do not prolong this time; signals do not shorten it.
  /// @throws ChannelClosed at the end of the stream, MessageTooLong as soon as such a length is announced,
  /// std::exception if a message is not CBOR or is beyond the limits above, or if the other end has left more
  /// than `longest_message` bytes unread
  std::optional<nlohmann::json> receive(int timeout_ms);

 private:
  void swap(Channel& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(input_, other.input_);
    std::swap(taken_, other.taken_);
    std::swap(output_, other.output_);
    std::swap(written_, other.written_);
  }
  std::optional<nlohmann::json> take_message();
  void read_some();
  void progress(int timeout_ms);
  void append(const nlohmann::json& message);
  void write_some();
  int fd_ = -1;
  std::string input_;  ///< its first `taken_` bytes were returned as messages
  std::size_t taken_ = 0;
  std::string output_;  ///< its first `written_` bytes are sent
  std::size_t written_ = 0;
};

}  // namespace gaussweep::driver
