/// Reads clocks, formats and parses times, and returns this machine's name and random identifiers.

#include "driver/system/clock.hpp"

#include <chrono>
#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <random>
#include <string_view>
#include <thread>
#include <time.h>
#include <unistd.h>

namespace gaussweep::driver {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void wait_seconds(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

double epoch_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

namespace {

/// Reads the clock with clock_gettime for all time stamps. time() may lag behind it by a tick, which would
/// reverse the order of two stamps.
timespec time_of_day() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

/// Returns the UTC time as text, without the final "Z".
std::string utc(std::time_t time) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return text;
}

}  // namespace

std::string time_stamp() {
  return utc(time_of_day().tv_sec) + "Z";
}

std::string fine_time_stamp() {
  const timespec now = time_of_day();
  return fmt::format("{}.{:06}Z", utc(now.tv_sec), now.tv_nsec / 1000);
}

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string random_id() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", source(), source(), source(), source());
}

double parse_time(const std::string& text) {
  std::tm parts{};
  const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr) return std::numeric_limits<double>::quiet_NaN();
  double fraction = 0;
  if (*end == '.') {
    const char* last = end + 1;
    for (double unit = 0.1; *last >= '0' && *last <= '9'; ++last, unit /= 10)
      fraction += unit * (*last - '0');
    if (last == end + 1) return std::numeric_limits<double>::quiet_NaN();
    end = last;
  }
  if (std::string_view(end) != "Z") return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(timegm(&parts)) + fraction;
}

Timestamp timestamp_now() {
  Timestamp timestamp;
  timestamp.seconds = static_cast<double>(time_of_day().tv_sec);
  std::ifstream("/proc/sys/kernel/random/boot_id") >> timestamp.boot;
  timespec uptime{};
  if (clock_gettime(CLOCK_BOOTTIME, &uptime) == 0) {
    timestamp.uptime = static_cast<double>(uptime.tv_sec) + 1e-9 * static_cast<double>(uptime.tv_nsec);
  }
  return timestamp;
}

}  // namespace gaussweep::driver
