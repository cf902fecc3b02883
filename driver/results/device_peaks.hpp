#pragma once
/// One measured peak per device, although each rank and each start measures it.

#include "io/records/results.hpp"

namespace gaussweep::driver {

/// Sets the rates in all rows of a device to the largest ones measured on it: other ranks and programs can
/// only slow a measurement down. Recomputes the known `peak_share` of its records from these rates. A time is
/// no longer suspect if these rates allow it.
void unify_peaks(io::Results& results);

/// Keeps one row per device, at the position of its first one.
void drop_repeated_devices(io::Results& results);

}  // namespace gaussweep::driver
