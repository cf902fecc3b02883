/// Sends and receives messages between a supervisor and its worker over a socket. Received messages are
/// checked before they take much memory or stack, because the other process may be damaged.

#include "driver/system/channel.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "driver/system/clock.hpp"

namespace gaussweep::driver {
namespace {

using Length = std::uint32_t;  // the type of the length before each message

// Capacity that an empty buffer may keep after a large message.
constexpr std::size_t kept_capacity = std::size_t{1} << 20;

void require_length(std::size_t bytes) {
  if (bytes > max_message_bytes)
    throw MessageTooLong(
        fmt::format("a message of {} bytes; at most {} are allowed", bytes, max_message_bytes));
}

/// Checks a message in CBOR (RFC 8949) without recursion. This precedes the recursive parser, which would
/// overflow the stack on deeply nested input. Indefinite lengths and tags, which `to_cbor` does not write,
/// are rejected.
class CborCheck {
 public:
  explicit CborCheck(std::string_view bytes) : rest_(bytes) {}

  /// @throws std::runtime_error unless the bytes are one value within the limits
  void run() {
    // For each nested array or object that is not complete: the number of its values that are still missing.
    std::vector<std::uint64_t> missing{1};
    std::size_t values = 0;
    while (!missing.empty()) {
      if (missing.back() == 0) {
        missing.pop_back();
        continue;
      }
      --missing.back();
      if (++values > max_message_values)
        throw std::runtime_error(fmt::format("a message of more than {} values arrived", max_message_values));
      const std::uint64_t inside = next();
      if (inside > 0) missing.push_back(inside);
      if (missing.size() > max_message_depth + 1)
        throw std::runtime_error(
            fmt::format("a message nested deeper than {} levels arrived", max_message_depth));
    }
    if (!rest_.empty()) throw std::runtime_error("a message arrived with bytes after its end");
  }

 private:
  enum Kind : unsigned { bytes = 2, text = 3, array = 4, object = 5, tag = 6 };

  /// Skips one value's head, and its bytes if it is a string. Returns the number of values inside it. The
  /// head is a byte with 3 bits of kind and 5 bits of size. A size of 24 to 27 means that 1, 2, 4 or 8 bytes
  /// with the size follow. Sizes from 28 to 30 are reserved, and 31 is an indefinite length.
  std::uint64_t next() {
    const unsigned head = static_cast<unsigned char>(take(1).front());
    const unsigned kind = head >> 5U, size = head & 31U;
    if (size > 27 || kind == tag) throw std::runtime_error("a message of unknown format arrived");
    std::uint64_t argument = size;
    if (size >= 24) {
      argument = 0;
      for (const char byte : take(std::size_t{1} << (size - 24)))
        argument = argument << 8U | static_cast<unsigned char>(byte);
    }
    if (kind == bytes || kind == text) take(argument);
    if (kind != array && kind != object) return 0;
    if (argument > rest_.size()) throw_short();  // each value takes at least one byte
    return kind == object ? 2 * argument : argument;
  }
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) throw_short();
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  [[noreturn]] static void throw_short() {
    throw std::runtime_error("a message arrived that ends within a value");
  }

  std::string_view rest_;
};

/// Removes the first `done` bytes, and sets `done` to 0. Frees the memory of a large message.
void drop_front(std::string& buffer, std::size_t& done) {
  buffer.erase(0, done);
  done = 0;
  if (buffer.empty() && buffer.capacity() > kept_capacity) std::string().swap(buffer);
}

}  // namespace

void Channel::append(const nlohmann::json& message) {
  if (written_ > 0) drop_front(output_, written_);
  const std::size_t begin = output_.size();
  try {
    output_.append(sizeof(Length), '\0');
    nlohmann::json::to_cbor(message, output_);
    const std::size_t bytes = output_.size() - begin - sizeof(Length);
    require_length(bytes);
    const auto length = static_cast<Length>(bytes);
    std::memcpy(output_.data() + begin, &length, sizeof length);
  } catch (...) {
    output_.resize(begin);  // half a message would corrupt the following ones
    throw;
  }
}

/// Sends as much as the socket accepts without blocking.
void Channel::write_some() {
  while (is_unsent()) {
    const ssize_t count =
        ::send(fd(), output_.data() + written_, output_.size() - written_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      written_ += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      const int why = errno;
      written_ = output_.size();
      drop_front(output_, written_);
      throw ChannelClosed(std::string("cannot send: ") + std::strerror(why));
    }
  }
  drop_front(output_, written_);
}

void Channel::send(const nlohmann::json& message) {
  append(message);
  for (write_some(); is_unsent(); write_some()) {
    pollfd waiting{fd(), POLLOUT, 0};
    if (::poll(&waiting, 1, -1) < 0 && errno != EINTR)
      throw ChannelClosed(std::string("poll: ") + std::strerror(errno));
  }
}

void Channel::send_nonblocking(const nlohmann::json& message) {
  append(message);
  write_some();
}

std::optional<nlohmann::json> Channel::take_message() {
  Length length = 0;
  const std::string_view available = std::string_view(input_).substr(taken_);
  if (available.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, available.data(), sizeof length);
  require_length(length);
  if (available.size() < sizeof length + length) return std::nullopt;
  const std::string_view body = available.substr(sizeof length, length);
  CborCheck(body).run();
  nlohmann::json message = nlohmann::json::from_cbor(body.begin(), body.end());
  taken_ += sizeof length + length;
  if (taken_ == input_.size()) drop_front(input_, taken_);
  return message;
}

void Channel::read_some() {
  char buffer[65536];
  const ssize_t count = ::recv(fd(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (count == 0) throw ChannelClosed("the other end closed");
  if (count < 0) {
    if (errno == EINTR || errno == EAGAIN) return;
    throw ChannelClosed(std::string("recv: ") + std::strerror(errno));
  }
  if (taken_ > 0) drop_front(input_, taken_);
  input_.append(buffer, static_cast<std::size_t>(count));
}

/// Waits until the socket is readable, or writable if data are unsent, and reads and writes.
void Channel::progress(int timeout_ms) {
  pollfd waiting{fd(), static_cast<short>(is_unsent() ? POLLIN | POLLOUT : POLLIN), 0};
  const int ready = ::poll(&waiting, 1, timeout_ms);
  if (ready < 0 && errno != EINTR) throw ChannelClosed(std::string("poll: ") + std::strerror(errno));
  if (ready <= 0) return;
  if ((waiting.revents & POLLOUT) != 0) {
    try {
      write_some();
    } catch (const ChannelClosed&) {
      // The other end may have sent messages before it closed; those are read first.
    }
  }
  if ((waiting.revents & ~POLLOUT) != 0) read_some();
}

std::optional<nlohmann::json> Channel::receive(int timeout_ms) {
  if (output_.size() - written_ > max_message_bytes)
    throw std::runtime_error("the other end does not read what it is sent");
  const double end = now_seconds() + 1e-3 * timeout_ms;
  for (int left_ms = timeout_ms;;) {
    if (auto message = take_message()) return message;
    progress(left_ms);
    if (timeout_ms < 0) continue;
    const double left = 1e3 * (end - now_seconds());
    if (left <= 0) return take_message();
    left_ms = static_cast<int>(std::ceil(left));
  }
}

}  // namespace gaussweep::driver
