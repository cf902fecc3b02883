#pragma once
/// Unifies the measured peaks of a device, because each rank and each start of a run measures them again.

#include "io/records/results.hpp"

namespace gaussweep::driver {

/// Sets the rates in all rows of a device to the largest ones measured on it: other ranks and programs can
/// only slow a measurement down. Recomputes the known `peak_share` of its records from these rates. Removes
/// the mark of a suspect time (too short for the rates known before) if these rates explain the time.
void unify_peaks(io::Results& results);

/// Keeps the first row of each device.
void drop_repeated_devices(io::Results& results);

}  // namespace gaussweep::driver
