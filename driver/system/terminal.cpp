/// Writes to the terminal that standard output is attached to, and finds its width and whether it shows
/// colours.

#include "driver/system/terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

#include "driver/base/printable.hpp"
#include "driver/system/process.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::size_t max_prose_width = 100, min_width = 20, max_width = 10'000;

}  // namespace

std::size_t output_width(std::size_t fallback) {
  const std::string columns = environment_value("COLUMNS");
  std::size_t width = 0;
  const auto [end, error] = std::from_chars(columns.data(), columns.data() + columns.size(), width);
  if (error == std::errc() && end == columns.data() + columns.size() && width >= min_width &&
      width <= max_width)
    return width;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= min_width) return size.ws_col;
  return fallback;
}

std::size_t prose_width() {
  return std::min(output_width(), max_prose_width);
}

bool output_is_terminal() {
  return ::isatty(STDOUT_FILENO) == 1;
}

bool write_all(int fd, const std::string& text) noexcept {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

void redraw(const std::string& text, const std::string& footer) {
  constexpr const char *home = "\033[H", *end_of_line = "\033[K\n", *end_of_screen = "\033[J";
  constexpr std::size_t usual_height = 24, min_height = 5;
  winsize size{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row >= min_height;
  // One line is left for the cursor, which is below the last line feed.
  std::size_t left = (is_known ? size.ws_row : usual_height) - 1 - (footer.empty() ? 0 : 1);
  std::string out = home;
  for (std::size_t start = 0; start < text.size() && left > 0; --left) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    out += terminal_text(text.substr(start, end - start)) + end_of_line;
    start = end + 1;
  }
  if (!footer.empty()) out += terminal_text(footer) + end_of_line;
  std::fflush(stdout);
  out += end_of_screen;
  // Bypasses sanitize_output, which would replace the cursor sequences. If the terminal is closed, the next
  // print reports the error.
  write_all(STDOUT_FILENO, out);
}

bool output_has_colours() {
  return output_is_terminal() && environment_value("NO_COLOR").empty() && environment_value("TERM") != "dumb";
}

}  // namespace gaussweep::driver
