#pragma once
/// Time, this machine's name, and names that nobody else has.

#include <functional>
#include <limits>
#include <string>

namespace gaussweep::driver {

/// Seconds of a monotonic clock.
double now_seconds();
/// Does nothing for so long.
void wait_seconds(double seconds);

/// How time passes: the machine's, or a test's.
struct Clock {
  std::function<double()> now = now_seconds;
  std::function<void(double seconds)> wait = wait_seconds;
};

/// Seconds between two steps beyond which a process itself stood still, because a job was suspended or a disk
/// did not answer. Steps otherwise follow each other within milliseconds.
constexpr double shortest_standstill = 1;

/// The time of day in seconds since the epoch, with a fraction.
double epoch_seconds();
/// The time of day, ISO 8601 in UTC.
std::string time_stamp();
/// The same with microseconds, "2026-03-01T12:00:00.250000Z".
std::string fine_time_stamp();
/// This machine's name.
std::string host_name();
/// A random identifier of 32 hex digits.
std::string random_id();

/// "2026-03-01T12:00:00Z", with or without a fraction, as seconds since the epoch; NaN where it is no such
/// time.
double parse_time(const std::string& text);

/// A moment by two clocks: one that people set, and one that only runs.
struct Timestamp {
  double seconds = std::numeric_limits<double>::quiet_NaN();  ///< since the epoch
  std::string boot;  ///< the start of this machine that `uptime` counts from
  double uptime = std::numeric_limits<double>::quiet_NaN();  ///< seconds since then, suspended ones too
};
Timestamp timestamp_now();

}  // namespace gaussweep::driver
