#include "driver/system/channel.hpp"

#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gaussweep::driver {
namespace {
constexpr std::uint32_t longest_message = 1U << 30;
}

void Channel::close() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void Channel::send(const nlohmann::json& message) {
  const std::vector<std::uint8_t> body = nlohmann::json::to_cbor(message);
  const auto length = static_cast<std::uint32_t>(body.size());
  std::string frame(sizeof length, '\0');
  std::memcpy(frame.data(), &length, sizeof length);
  frame.append(body.begin(), body.end());
  std::size_t sent = 0;
  while (sent < frame.size()) {
    const ssize_t count = ::send(fd_, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      throw ChannelClosed(std::string("cannot send: ") + std::strerror(errno));
    }
  }
}

std::optional<nlohmann::json> Channel::take_message() {
  std::uint32_t length = 0;
  if (input_.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, input_.data(), sizeof length);
  if (length > longest_message) throw std::runtime_error("a message of impossible length arrived");
  if (input_.size() < sizeof length + length) return std::nullopt;
  const auto begin = input_.begin() + sizeof length;
  nlohmann::json message = nlohmann::json::from_cbor(begin, begin + length);
  input_.erase(0, sizeof length + length);
  return message;
}

std::optional<nlohmann::json> Channel::receive(int timeout_ms) {
  for (;;) {
    if (auto message = take_message()) return message;
    pollfd waiting{fd_, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, timeout_ms);
    if (ready < 0 && errno != EINTR) throw ChannelClosed(std::string("poll: ") + std::strerror(errno));
    if (ready <= 0) return std::nullopt;
    char buffer[65536];
    const ssize_t count = ::recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count == 0) throw ChannelClosed("the other end closed");
    if (count < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      throw ChannelClosed(std::string("recv: ") + std::strerror(errno));
    }
    input_.append(buffer, static_cast<std::size_t>(count));
  }
}

}  // namespace gaussweep::driver
