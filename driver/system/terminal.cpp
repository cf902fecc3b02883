#include "driver/system/terminal.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace gaussweep::driver {
namespace {

constexpr std::size_t most_of_prose = 100, least_width = 20, most_width = 10'000;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::size_t output_width(std::size_t otherwise) {
  const std::string_view asked = variable("COLUMNS");
  std::size_t width = 0;
  const auto [end, error] = std::from_chars(asked.data(), asked.data() + asked.size(), width);
  if (error == std::errc() && end == asked.data() + asked.size() && width >= least_width &&
      width <= most_width)
    return width;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= least_width) return size.ws_col;
  return otherwise;
}

std::size_t prose_width() {
  return std::min(output_width(), most_of_prose);
}

bool output_has_colours() {
  return ::isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

}  // namespace gaussweep::driver
