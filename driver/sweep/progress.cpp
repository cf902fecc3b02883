/// Shows progress on stderr: a bar on a terminal, otherwise one line per minute.

#include "driver/sweep/progress.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "driver/judge/judge.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/console.hpp"
#include "driver/system/process.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {
constexpr double bar_interval = 0.2, line_interval = 60;  // seconds between updates
constexpr std::size_t bar_width = 30;

/// Returns true if standard error is a terminal, or if the parent process is mpirun and forwards it to one.
bool is_terminal() {
  if (::isatty(STDERR_FILENO) == 1) return true;
  if (environment_value("OMPI_COMM_WORLD_SIZE").empty()) return false;
  std::error_code error;
  const std::string launcher_stderr =
      std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", ::getppid()), error).string();
  return launcher_stderr.rfind("/dev/pts/", 0) == 0 || launcher_stderr.rfind("/dev/tty", 0) == 0;
}
}  // namespace

Progress::Progress(std::size_t total, std::size_t done, bool is_shown)
    : total_(total), done_(done), is_shown_(is_shown), is_terminal_(is_terminal()) {
  next_line_ = now_seconds() + line_interval;
  next_show_ = is_terminal_ ? 0 : next_line_;
}

void Progress::count(const std::string& status, bool expected) {
  ++done_;
  if (expected) return;
  if (is_broken(status)) {
    ++broken_;
  } else if (status == io::Status::pass) {
    ++unexpected_;
  } else if (status == io::Status::suspect) {
    ++suspect_;
  } else {
    ++wrong_;
  }
}

std::string Progress::text(const EstimateLeft& left) const {
  const double fraction = total_ == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(total_);
  std::string line = fmt::format("{}/{} trials ({:.0f} %)", done_, total_, 100 * fraction);
  if (wrong_ > 0) line += fmt::format(", {} wrong", wrong_);
  if (suspect_ > 0) line += fmt::format(", {} suspect", suspect_);
  if (unexpected_ > 0) line += fmt::format(", {} passed unexpectedly", unexpected_);
  if (broken_ > 0) line += fmt::format(", {} broken", broken_);
  const std::optional<TimeRange> seconds = done_ < total_ ? left() : std::nullopt;
  if (seconds && !seconds->rounds_to_zero()) line += ", " + range_text(*seconds) + " left";
  return line;
}

void Progress::show(const EstimateLeft& left, bool now) {
  const double time = now_seconds();
  if (!is_shown_ || (!now && time < next_show_)) return;
  next_show_ = time + (is_terminal_ ? bar_interval : line_interval);
  const std::string line = text(left);
  if (now || time >= next_line_) {
    next_line_ = time + line_interval;
    log_line(line);
  }
  if (is_terminal_) {
    const std::size_t filled = total_ == 0 ? bar_width : bar_width * done_ / total_;
    print_stderr_raw(fmt::format("\r\033[K[{}{}] {}", std::string(filled, '='),
                                 std::string(bar_width - filled, ' '), line));
  } else {
    print_stderr(line + "\n");
  }
}

void Progress::finish() {
  // No time is left to estimate, even if trials are left after an early stop.
  show([] { return std::nullopt; }, /*now=*/true);
  if (is_shown_ && is_terminal_) print_stderr("\n");
}

}  // namespace gaussweep::driver
