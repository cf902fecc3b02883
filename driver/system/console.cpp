/// Writes output for users to standard output, standard error and the logs of the run directory.

#include "driver/system/console.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <limits.h>
#include <memory>
#include <mutex>
#include <poll.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "driver/base/printable.hpp"
#include "driver/system/terminal.hpp"
#include "io/files/errors.hpp"
#include "io/files/open_file.hpp"

namespace gaussweep::driver {
namespace {

/// The time to wait for a slow reader of standard error. After one timeout there are no further waits.
constexpr int reader_timeout_ms = 200;
constexpr const char* console_pattern = "%H:%M:%S %^%l%$: %v";
constexpr const char* file_pattern = "%Y-%m-%d %H:%M:%S %l: %v";

const char* color_of(spdlog::level::level_enum level) {
  if (level == spdlog::level::info) return "\033[32m";
  return level == spdlog::level::warn ? "\033[33m\033[1m" : "\033[31m\033[1m";
}

/// A log file. Text written before it is open is buffered.
class MessageFile {
 public:
  void open(const std::string& path) {
    // Non-blocking, because opening a pipe could block the sweep. A pipe is rejected below.
    io::Descriptor file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
    struct stat facts {};
    if (!file.open() || ::fstat(file.fd(), &facts) != 0)
      throw io::StorageError(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
    if (!S_ISREG(facts.st_mode))
      throw io::StorageError(path + " is not a regular file; it must be one, or absent");
    file_ = std::move(file);
    write(buffered_);
    buffered_.clear();
  }
  void write(const std::string& text) {
    if (!file_.open()) {
      buffered_ += text;
      return;
    }
    write_all(file_.fd(), text);
  }

 private:
  io::Descriptor file_;
  std::string buffered_;
};

/// The spdlog sink that writes to standard error and to the log file.
class MessageSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  MessageSink()
      : base_sink(std::make_unique<spdlog::pattern_formatter>(console_pattern)),
        colors_(::isatty(STDERR_FILENO) == 1),
        file_formatter_(file_pattern) {}
  void open_file(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    file_.open(path);
  }
  void log_line(const std::string& text) {
    spdlog::memory_buf_t line;
    file_formatter_.format({"", spdlog::level::info, text}, line);
    const std::lock_guard<std::mutex> lock(mutex_);
    file_.write(fmt::to_string(line));
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    // The coloured range is before the message's text. Replacing characters in the message does not move this
    // range.
    std::string text = printable_lines(fmt::to_string(line));
    if (colors_ && message.color_range_end > message.color_range_start) {
      text.insert(message.color_range_end, "\033[m");
      text.insert(message.color_range_start, color_of(message.level));
    }
    print_stderr_raw(text);
    spdlog::memory_buf_t logged;
    file_formatter_.format(message, logged);
    file_.write(printable_lines(fmt::to_string(logged)));
  }
  void flush_() override {}

  bool colors_;
  spdlog::pattern_formatter file_formatter_;
  MessageFile file_;
};

/// Printed text that is not written yet, because it may end inside a character or a colour sequence.
std::string pending_output;

ssize_t write_sanitized(void*, const char* data, std::size_t bytes) {
  pending_output.append(data, bytes);
  // All characters and sequences before the last line feed are complete.
  const std::size_t whole = pending_output.rfind('\n') + 1;
  const bool shown = write_all(STDOUT_FILENO, terminal_text(pending_output.substr(0, whole)));
  pending_output.erase(0, whole);
  return shown ? static_cast<ssize_t>(bytes) : 0;
}

/// Returns the sink of the default logger; null before `start_logging`, as in unit tests.
MessageSink* sink() {
  const auto& sinks = spdlog::default_logger()->sinks();
  return sinks.empty() ? nullptr : dynamic_cast<MessageSink*>(sinks.front().get());
}

}  // namespace

void print_stderr(const std::string& text) {
  print_stderr_raw(::isatty(STDERR_FILENO) == 1 ? terminal_text(text) : text);
}

void print_stderr_raw(const std::string& text) noexcept {
  static bool reader_hangs = false;  // static, because there is only one standard error
  for (std::size_t done = 0; done < text.size();) {
    pollfd out{STDERR_FILENO, POLLOUT, 0};
    const int ready = ::poll(&out, 1, reader_hangs ? 0 : reader_timeout_ms);
    if (ready < 0 && errno == EINTR) continue;
    reader_hangs = ready <= 0;
    if (reader_hangs) return;
    // A writable pipe accepts PIPE_BUF bytes without blocking.
    const std::size_t chunk = std::min<std::size_t>(text.size() - done, PIPE_BUF);
    const ssize_t count = ::write(STDERR_FILENO, text.data() + done, chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

void start_logging() {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("gaussweep", std::make_shared<MessageSink>()));
}

void log_to_file(const std::string& path) {
  if (MessageSink* messages = sink()) messages->open_file(path);
}

void log_line(const std::string& text) {
  if (MessageSink* messages = sink()) messages->log_line(text);
}

void sanitize_output() {
  if (::isatty(STDOUT_FILENO) != 1) return;
  std::fflush(stdout);
  cookie_io_functions_t functions{};
  functions.write = write_sanitized;
  if (FILE* const sanitized_stdout = ::fopencookie(nullptr, "w", functions)) {
    std::setvbuf(sanitized_stdout, nullptr, _IOLBF, BUFSIZ);
    stdout = sanitized_stdout;
  }
}

std::string flush_output() {
  errno = 0;
  if (std::fflush(stdout) != 0) return std::strerror(errno);
  if (!pending_output.empty() && !write_all(STDOUT_FILENO, terminal_text(std::exchange(pending_output, {}))))
    return std::strerror(errno);
  return std::ferror(stdout) == 0 ? "" : "a part of it was lost";
}

}  // namespace gaussweep::driver
