#include "driver/sweep/progress.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <unistd.h>

#include "driver/base/words.hpp"
#include "driver/judge/judge.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/console.hpp"

namespace gaussweep::driver {
namespace {
constexpr double bar_interval = 0.2, line_interval = 60;
constexpr std::size_t bar_width = 30;
}  // namespace

Progress::Progress(std::size_t total, std::size_t done)
    : total_(total), done_(done), terminal_(::isatty(STDERR_FILENO) == 1) {
  next_line_ = now_seconds() + line_interval;
  next_show_ = terminal_ ? 0 : next_line_;
}

void Progress::count(const std::string& status, bool expected) {
  ++done_;
  if (expected) return;
  ++(is_broken(status) ? broken_ : unexpected_);
}

std::string Progress::text(double seconds_left) const {
  const double share = total_ == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(total_);
  std::string words = fmt::format("{}/{} trials ({:.0f} %)", done_, total_, 100 * share);
  if (unexpected_ > 0) words += fmt::format(", {} wrong", unexpected_);
  if (broken_ > 0) words += fmt::format(", {} broken", broken_);
  if (seconds_left >= 0 && done_ < total_) words += ", about " + duration_words(seconds_left) + " left";
  return words;
}

void Progress::show(double seconds_left, bool now) {
  const double time = now_seconds();
  if (!now && time < next_show_) return;
  next_show_ = time + (terminal_ ? bar_interval : line_interval);
  const std::string words = text(seconds_left);
  if (now || time >= next_line_) {
    next_line_ = time + line_interval;
    log_line(words);
  }
  if (terminal_) {
    const std::size_t filled = total_ == 0 ? bar_width : bar_width * done_ / total_;
    say_as_it_is(fmt::format("\r\033[K[{}{}] {}", std::string(filled, '='),
                             std::string(bar_width - filled, ' '), words));
  } else {
    say(words + "\n");
  }
}

void Progress::finish() {
  constexpr double unknown = -1;  // a sweep that stopped early has nothing left to wait for
  show(unknown, true);
  if (terminal_) say("\n");
}

}  // namespace gaussweep::driver
