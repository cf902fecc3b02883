#pragma once
/// The fraction of a device's roofline that a trial reached.

#include "io/records/record.hpp"
#include "kernels/vendor/peaks.hpp"

namespace gaussweep::driver {

/// A time is suspect if it is shorter than the peaks allow by more than this factor: clocks change after the
/// peaks were measured.
constexpr double peak_slack = 1.5;

/// Returns the number of GPUs that shared a trial's matrix, 1 if it ran on the CPU.
double gpus_of(const io::Record& record);

/// Returns the fraction of the roofline: the least time that the peaks allow, divided by the median time.
/// `peaks` are those of one GPU; they are multiplied by the number of GPUs. NaN if a peak or the median is
/// unknown.
double peak_share(const io::Record& record, const Peaks& peaks);

}  // namespace gaussweep::driver
