#pragma once
/// Warnings about trials that passed: faster than the device allows, or much less accurate than the
/// reference.

#include <vector>

#include "driver/base/table.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// A method is listed if it loses at least this many decimal digits compared with the reference.
inline constexpr double doubted_digits = 2;

/// A componentwise error is shown if it is at least this many times max(backward error, unit roundoff).
inline constexpr double doubted_componentwise = 1000;

/// Returns a table of the doubts about records that passed or are suspect, with one row per method and kind
/// of doubt and the worst figure. `timing`: the time is too short for the device. `accuracy`: the backward
/// error is at least 100 times the reference's. `components`: the componentwise error is at least 1000 times
/// the backward error.
Table doubt_table(const std::vector<io::Record>& records);

}  // namespace gaussweep::driver
