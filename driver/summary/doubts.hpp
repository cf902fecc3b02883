#pragma once
/// What passed and yet is to be doubted: faster than the device, or far less accurate than the reference.

#include <vector>

#include "driver/base/table.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// From so many decimal digits on, lost against the reference, a method is to be doubted.
inline constexpr double doubted_digits = 2;

/// The doubts about records that passed or are suspect. `timing`: the time is too short for the device.
/// `accuracy`: the backward error is 100 times the reference's. A row a method and reason, worst figure.
Table doubt_table(const std::vector<io::Record>& records);

}  // namespace gaussweep::driver
