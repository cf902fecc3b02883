#pragma once
/// Unifies the measured peaks of a device, because each rank and each start of a run measures them again.

#include "io/records/results.hpp"

namespace gaussweep::driver {

/// Sets the rates in all rows of a device to the largest ones measured on it, because other ranks and
/// programs can only slow a measurement down. Recomputes `peak_share` of the device's records from these
/// rates, if it is known. If a time was marked as suspect (too short for the rates) and these rates allow it,
/// removes the mark.
void unify_peaks(io::Results& results);

/// Keeps the first row of each device.
void drop_repeated_devices(io::Results& results);

}  // namespace gaussweep::driver
