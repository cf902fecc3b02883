#pragma once
/// Measured peak rates of a device. The record column `peak_share` is a rate divided by its peak.

#include "kernels/device/context.hpp"

namespace gaussweep {

struct Peaks {
  double copy_bytes_per_second = 0;                    ///< bytes read plus bytes written
  double gemm_flops_float = 0, gemm_flops_double = 0;  ///< vendor GEMM
};

/// Measures the peaks within about `seconds` seconds.
Peaks measure_peaks(Context& context, double seconds);

}  // namespace gaussweep
