// Tests messages through a socket, also from a peer that closes, stalls or sends malformed ones.

#include "driver/system/channel.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <future>

#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

using nlohmann::json;

struct Pair {
  Pair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    left = Channel(ends[0]);
    right = Channel(ends[1]);
  }
  Channel left, right;
};

const json& large() {  // far larger than a socket's buffer
  static const json message = {{"history", std::vector<double>(300000, 1.5)}};
  return message;
}

TEST(Channel, DeliversMessagesWholeAndInOrder) {
  Pair pair;
  const json small = {{"type", "at"}, {"step", "samples"}};
  std::thread writer([&] {
    pair.left.send(small);
    pair.left.send(large());
  });
  EXPECT_EQ(pair.right.receive(-1), small);
  EXPECT_EQ(pair.right.receive(-1), large());
  writer.join();
  EXPECT_EQ(pair.right.receive(0), std::nullopt);
}

TEST(Channel, ReportsAClosedPeer) {
  Pair pair;
  pair.left.send({{"type", "last"}});
  pair.left.close();
  EXPECT_TRUE(pair.right.receive(100).has_value()) << "earlier messages are still read";
  EXPECT_THROW(pair.right.receive(100), ChannelClosed);
  EXPECT_THROW(for (int i = 0; i < 3; ++i) pair.right.send({{"type", "to nobody"}}), ChannelClosed);
}

TEST(Channel, LosesNothingWhenBothEndsWriteFirst) {
  constexpr int count = 3;
  Pair pair;
  std::thread worker([&] {
    for (int i = 0; i < count; ++i) pair.left.send(large());
    for (int i = 0; i < count; ++i) EXPECT_EQ(pair.left.receive(-1), large());
  });
  for (int i = 0; i < count; ++i) pair.right.send_nonblocking(large());  // `send` would block here forever
  for (int i = 0; i < count; ++i) EXPECT_EQ(pair.right.receive(-1), large());
  while (pair.right.is_unsent()) pair.right.receive(1);
  worker.join();
}

TEST(Channel, ReadsTheLastMessageOfAPeerThatReadNothing) {
  Pair pair;
  for (int i = 0; i < 3; ++i) pair.right.send_nonblocking(large());
  pair.left.send({{"type", "last"}});
  pair.left.close();
  EXPECT_TRUE(pair.right.receive(100).has_value());
  EXPECT_THROW(pair.right.receive(100), ChannelClosed);
}

TEST(Channel, FailsIfThePeerNeverReads) {
  Pair pair;
  const json message = {{"text", std::string(max_message_bytes / 4, 'x')}};
  for (int i = 0; i < 5; ++i) pair.right.send_nonblocking(message);
  EXPECT_THROW(pair.right.receive(0), std::runtime_error);
}

TEST(Channel, RefusesToSendWhatThePeerWouldRefuse) {
  Pair pair;
  const json too_long = {{"text", std::string(max_message_bytes, 'x')}};
  EXPECT_THROW(pair.left.send(too_long), MessageTooLong);
  EXPECT_THROW(pair.left.send_nonblocking(too_long), MessageTooLong);
  pair.left.send({{"type", "at"}});
  EXPECT_EQ(pair.right.receive(100), json({{"type", "at"}})) << "no part of the long messages was sent";
}

/// Sends bytes to one end of a channel from a thread.
class RawSender {
 public:
  explicit RawSender(std::string bytes, bool for_ever = false) {
    writer_ = std::thread([this, bytes = std::move(bytes), for_ever] {
      const auto write = [this](const char* data, std::size_t size) {
        return ::send(pair_.left.fd(), data, size, MSG_NOSIGNAL);
      };
      std::size_t sent = 0;
      ssize_t count = 1;
      while (sent < bytes.size() && (count = write(bytes.data() + sent, bytes.size() - sent)) > 0)
        sent += static_cast<std::size_t>(count);
      while (for_ever && count > 0) count = write("", 1);
    });
  }
  ~RawSender() {
    ::shutdown(pair_.left.fd(), SHUT_RDWR);
    writer_.join();
  }
  RawSender(const RawSender&) = delete;
  RawSender& operator=(const RawSender&) = delete;
  Channel& channel() { return pair_.right; }

 private:
  Pair pair_;
  std::thread writer_;
};

std::string length_prefix(std::size_t bytes) {
  const auto length = static_cast<std::uint32_t>(bytes);
  std::string text(sizeof length, '\0');
  std::memcpy(text.data(), &length, sizeof length);
  return text;
}

std::string framed(const std::string& body) {
  return length_prefix(body.size()) + body;
}

std::string times(std::size_t count, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Channel, RefusesALengthBeforeReadingTheBody) {
  for (const std::size_t announced : {max_message_bytes + 1, std::size_t{1} << 30, std::size_t{0xFFFFFFFF}}) {
    RawSender sent(length_prefix(announced));
    EXPECT_THROW(sent.channel().receive(-1), MessageTooLong);
  }
}

TEST(Channel, RefusesDeepNesting) {
  const auto nested = [](std::size_t levels) { return framed(times(levels, "\x81") + '\x01'); };
  RawSender good(nested(max_message_depth));
  EXPECT_TRUE(good.channel().receive(-1).has_value());
  constexpr std::size_t deep = 200'000;
  const std::string strings = times(deep, "\x7F"), chunks = times(deep, "\x5F"), tags = times(deep, "\xC1");
  for (const std::string& bytes :
       {nested(max_message_depth + 1), nested(deep), framed(times(deep, "\xA1\x61k")),
        framed(times(deep, "\x9F")), framed(times(deep, "\xBF\x61k")), framed(strings),
        framed("\xA1" + strings), framed(chunks), framed(tags)}) {
    RawSender sent(bytes);
    EXPECT_THROW(sent.channel().receive(-1), std::exception) << bytes.size() << " bytes";
  }
}

TEST(Channel, RefusesBodiesThatAreNotOneValue) {
  using namespace std::string_literals;
  const std::string more = "\x9A"s + "\x00\x7A\x12\x01"s + std::string(max_message_values + 1, '\0');
  for (const std::string& body : {""s, "\x82\x01"s, "\x01\x01"s, "\x1C"s, "\xFF"s, "\x19\x01"s,
                                  "\x63"
                                  "ab"s,
                                  "\xA1\x01\x01"s,
                                  "\x7B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
                                  "a"s,
                                  "\x9B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s,
                                  "\xBB\x80\x00\x00\x00\x00\x00\x00\x00\x61k\x01"s, more}) {
    RawSender sent(framed(body));
    EXPECT_THROW(sent.channel().receive(-1), std::exception)
        << json(body.substr(0, 20)).dump(-1, ' ', true, json::error_handler_t::replace);
  }
}

TEST(Channel, ReturnsAtItsTimeoutWhileDataArrive) {
  RawSender sent(length_prefix(max_message_bytes), true);
  for (const int timeout_ms : {0, 1, 20}) EXPECT_EQ(sent.channel().receive(timeout_ms), std::nullopt);
}

std::atomic<int> ticks{0};

TEST(Channel, ContinuesWaitingAfterASignal) {
  Pair pair;
  struct sigaction count {
  }, before{};
  count.sa_handler = [](int) { ++ticks; };  // no SA_RESTART
  ASSERT_EQ(::sigaction(SIGALRM, &count, &before), 0);
  std::thread writer([&] {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    ::pthread_sigmask(SIG_BLOCK, &alarm, nullptr);  // the waiting thread shall receive the signal
    const itimerval often{{0, 1000}, {0, 1000}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    while (ticks < 50) std::this_thread::yield();
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    pair.left.send({{"type", "at"}});
  });
  EXPECT_EQ(pair.right.receive(-1), json({{"type", "at"}}));
  writer.join();
  ::sigaction(SIGALRM, &before, nullptr);
}

}  // namespace
}  // namespace gaussweep::driver
