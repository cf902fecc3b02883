#pragma once
/// Messages between a supervisor (the parent process) and its worker (the child process that runs trials).
/// Each message is a CBOR object after a 4-byte length, sent over an unnamed socket. The process at the other
/// end may be another build, or damaged. Length, nesting and number of values are therefore checked before a
/// message takes much memory or stack.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "io/files/open_file.hpp"

namespace gaussweep::driver {

/// Limit on the bytes of a message. A trial's record with a million samples and a million iterations has 55
/// MB.
constexpr std::size_t max_message_bytes = std::size_t{64} << 20;
/// Limit on the nesting of arrays and objects; valid messages have fewer than ten levels.
constexpr std::size_t max_message_depth = 32;
/// Limit on the JSON values of a message. The record of a trial with a million samples has six million.
constexpr std::size_t max_message_values = 8'000'000;

/// Thrown if the process at the other end has ended or closed the socket.
struct ChannelClosed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Thrown for a message longer than `max_message_bytes`.
struct MessageTooLong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One end of a stream socket; owns the descriptor.
class Channel {
 public:
  Channel() = default;
  explicit Channel(int fd) : file_(fd) {}

  bool open() const { return file_.open(); }
  int fd() const { return file_.fd(); }
  void close() noexcept { file_.reset(); }
  /// Writes the whole message; blocks until the other end has room. Only one of the two ends may use `send`.
  /// If both ends blocked in `send`, neither would read. @throws ChannelClosed, MessageTooLong (nothing is
  /// sent then)
  void send(const nlohmann::json& message);
  /// Writes as much as the other end has room for; `receive` writes the rest.
  /// @throws ChannelClosed, MessageTooLong (nothing is sent then)
  void send_nonblocking(const nlohmann::json& message);
  /// Returns true if part of the messages of `send_nonblocking` is not written yet.
  bool is_unsent() const { return written_ < output_.size(); }
  /// Returns the next complete message. Returns nothing if none arrives within `timeout_ms` (0: reads once,
  /// -1: no limit). Parts of a message do not extend this time, and signals do not shorten it.
  /// @throws ChannelClosed at the end of the stream
  /// @throws MessageTooLong as soon as the length of a too long message arrives
  /// @throws std::exception if a message is not CBOR or exceeds the limits above, or if the other end has
  /// left more than `max_message_bytes` bytes unread
  std::optional<nlohmann::json> receive(int timeout_ms);

 private:
  std::optional<nlohmann::json> take_message();
  void read_some();
  void progress(int timeout_ms);
  void append(const nlohmann::json& message);
  void write_some();
  io::Descriptor file_;
  std::string input_;  ///< the first `taken_` bytes were returned as messages
  std::size_t taken_ = 0;
  std::string output_;  ///< the first `written_` bytes are sent
  std::size_t written_ = 0;
};

}  // namespace gaussweep::driver
