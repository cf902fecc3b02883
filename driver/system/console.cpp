#include "driver/system/console.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/base/printable.hpp"
#include "driver/system/channel.hpp"
#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {

constexpr int patience_ms =
    200;  // for a reader that is slow, once; one that stands still is not waited for again
constexpr const char* console_pattern = "%H:%M:%S %^%l%$: %v";
constexpr const char* file_pattern = "%Y-%m-%d %H:%M:%S %l: %v";

const char* color_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::info:
      return "\033[32m";
    case spdlog::level::warn:
      return "\033[33m\033[1m";
    default:
      return "\033[31m\033[1m";
  }
}

/// A file of messages. Until it is open, what it shall hold waits.
class MessageFile {
 public:
  void open(const std::string& path) {
    // Not blocking: a pipe under this name must not hold up the sweep. (It is refused below.)
    Channel file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    struct stat facts {};
    if (!file.open() || ::fstat(file.fd(), &facts) != 0)
      throw io::StorageError(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
    if (!S_ISREG(facts.st_mode))
      throw io::StorageError(path + " is not a regular file; it must be one, or absent");
    file_ = std::move(file);
    write(waiting_);
    waiting_.clear();
  }
  void write(const std::string& text) {
    if (!file_.open()) {
      waiting_ += text;
      return;
    }
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t count = ::write(file_.fd(), text.data() + done, text.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;
      done += static_cast<std::size_t>(count);
    }
  }

 private:
  Channel file_;
  std::string waiting_;
};

/// spdlog's way to standard error and to the file.
class MessageSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  MessageSink()
      : base_sink(std::make_unique<spdlog::pattern_formatter>(console_pattern)),
        colors_(::isatty(STDERR_FILENO) == 1),
        file_form_(file_pattern) {}
  void keep(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    file_.open(path);
  }
  void note(const std::string& text) {
    spdlog::memory_buf_t line;
    file_form_.format({"", spdlog::level::info, text}, line);
    const std::lock_guard<std::mutex> lock(mutex_);
    file_.write(fmt::to_string(line));
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    std::string text = printable_lines(fmt::to_string(line));  // of the same length up to the message
    if (colors_ && message.color_range_end > message.color_range_start) {
      text.insert(message.color_range_end, "\033[m");
      text.insert(message.color_range_start, color_of(message.level));
    }
    say_as_it_is(text);
    spdlog::memory_buf_t logged;
    file_form_.format(message, logged);
    file_.write(printable_lines(fmt::to_string(logged)));
  }
  void flush_() override {}

  bool colors_;
  spdlog::pattern_formatter file_form_;
  MessageFile file_;
};

/// What was printed and not shown yet: the beginning of a character or of a colour.
std::string held_output;

bool write_output(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

ssize_t write_guarded(void*, const char* data, std::size_t bytes) {
  held_output.append(data, bytes);
  // Up to the last line feed everything is whole.
  const std::size_t whole = held_output.rfind('\n') + 1;
  const bool shown = write_output(terminal_text(held_output.substr(0, whole)));
  held_output.erase(0, whole);
  return shown ? static_cast<ssize_t>(bytes) : 0;
}

/// The sink of the default logger; null before `start_messages`, as in tests of parts.
MessageSink* sink() {
  const auto& sinks = spdlog::default_logger()->sinks();
  return sinks.empty() ? nullptr : dynamic_cast<MessageSink*>(sinks.front().get());
}

}  // namespace

void say(const std::string& text) {
  say_as_it_is(::isatty(STDERR_FILENO) == 1 ? terminal_text(text) : text);
}

void say_as_it_is(const std::string& text) noexcept {
  static bool stands_still = false;  // there is one standard error
  for (std::size_t done = 0; done < text.size();) {
    pollfd out{STDERR_FILENO, POLLOUT, 0};
    const int ready = ::poll(&out, 1, stands_still ? 0 : patience_ms);
    if (ready < 0 && errno == EINTR) continue;
    stands_still = ready <= 0;
    if (stands_still) return;
    // A pipe that is ready takes so much without waiting for its reader.
    const std::size_t piece = std::min<std::size_t>(text.size() - done, PIPE_BUF);
    const ssize_t count = ::write(STDERR_FILENO, text.data() + done, piece);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

void start_messages() {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("gaussweep", std::make_shared<MessageSink>()));
}

void keep_messages(const std::string& path) {
  if (MessageSink* messages = sink()) messages->keep(path);
}

void log_line(const std::string& text) {
  if (MessageSink* messages = sink()) messages->note(text);
}

void guard_terminal() {
  if (::isatty(STDOUT_FILENO) != 1) return;
  std::fflush(stdout);
  cookie_io_functions_t functions{};
  functions.write = write_guarded;
  if (FILE* const guarded = ::fopencookie(nullptr, "w", functions)) {
    std::setvbuf(guarded, nullptr, _IOLBF, BUFSIZ);
    stdout = guarded;
  }
}

std::string lost_output() {
  errno = 0;
  if (std::fflush(stdout) != 0) return std::strerror(errno);
  if (!held_output.empty() && !write_output(terminal_text(std::exchange(held_output, {}))))
    return std::strerror(errno);
  return std::ferror(stdout) == 0 ? "" : "a part of it was lost";
}

}  // namespace gaussweep::driver
