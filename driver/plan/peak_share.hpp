#pragma once
/// The fraction of a device's roofline that a trial reached.

#include "io/records/record.hpp"
#include "kernels/vendor/peaks.hpp"

namespace gaussweep::driver {

/// A time is suspect if the least time that the peaks allow is longer by more than this factor. The factor
/// allows for clocks that change after the peaks were measured.
constexpr double peak_slack = 1.5;

/// Returns the number of GPUs that shared a trial's matrix, 1 if it ran on the CPU.
double gpus_of(const io::Record& record);

/// Returns the fraction of the roofline: the least time that the peaks allow, divided by the median time. NaN
/// if a peak or the median is unknown.
/// @param peaks of one GPU; the function multiplies them by the number of GPUs
double peak_share(const io::Record& record, const Peaks& peaks);

}  // namespace gaussweep::driver
