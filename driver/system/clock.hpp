#pragma once
/// Clocks, this machine's name, and random identifiers.

#include <functional>
#include <limits>
#include <string>

namespace gaussweep::driver {

/// Returns the seconds of a monotonic clock.
double now_seconds();
/// Sleeps for a number of seconds.
void wait_seconds(double seconds);

/// A clock: the machine's, or a simulated one in tests.
struct Clock {
  std::function<double()> now = now_seconds;
  std::function<void(double seconds)> wait = wait_seconds;
};

/// If more seconds than this pass between two iterations of a process's main loop, the process counts as
/// having been suspended. The reason may be a stopped job or a disk that did not answer. Normally
/// milliseconds pass.
constexpr double min_suspension_seconds = 1;

/// Returns the wall-clock time in seconds since the epoch, with a fraction.
double epoch_seconds();
/// Returns the wall-clock time in UTC, ISO 8601.
std::string time_stamp();
/// Returns the time stamp with microseconds, "2026-03-01T12:00:00.250000Z".
std::string fine_time_stamp();
/// Returns this machine's name.
std::string host_name();
/// Returns a random identifier of 32 hex digits.
std::string random_id();

/// Converts "2026-03-01T12:00:00Z", with or without a fraction, to seconds since the epoch; NaN if malformed.
double parse_time(const std::string& text);

/// A time on two clocks: the wall clock, which users may change, and the monotonic uptime.
struct Timestamp {
  double seconds = std::numeric_limits<double>::quiet_NaN();  ///< since the epoch
  std::string boot;                                           ///< identifies the boot at which `uptime` began
  /// Seconds since the boot, including suspended ones.
  double uptime = std::numeric_limits<double>::quiet_NaN();
};
Timestamp timestamp_now();

}  // namespace gaussweep::driver
