#pragma once
/// The fraction of a device's roofline that a trial reached. The peaks are measured: GEMM rate and copy
/// bandwidth.

#include "io/records/record.hpp"
#include "kernels/vendor/peaks.hpp"

namespace gaussweep::driver {

/// A measured time is marked as suspect (too short) if the least time that the peaks allow is more than this
/// factor times as long. The margin is needed because clocks may rise after the peaks were measured.
constexpr double max_roofline_excess = 1.5;

/// Returns the number of GPUs that shared a trial's matrix, 1 if it ran on the CPU.
double gpus_of(const io::Record& record);

/// Returns the fraction of the roofline: the least time that the peaks allow, divided by the median time. NaN
/// if a peak or the median is unknown.
/// @param peaks the peaks of one GPU; the function accounts for the number of GPUs
double roofline_fraction(const io::Record& record, const Peaks& peaks);

}  // namespace gaussweep::driver
