#pragma once
/// Unifies the measured peaks of a device: its GEMM rates and its copy bandwidth. Each rank and each start of
/// a run measures them again, with different results.

#include "io/records/results.hpp"

namespace gaussweep::driver {

/// Sets the peaks in all rows of a device to the largest measured ones, because other ranks and programs can
/// only slow a measurement down. Recomputes `peak_share` (fraction of the roofline) of the device's records,
/// except for unknown ones. Removes the mark "suspect" (too short for the peaks) from times that the largest
/// peaks allow.
void unify_peaks(io::Results& results);

/// Keeps the first row of each device.
void drop_repeated_devices(io::Results& results);

}  // namespace gaussweep::driver
