#pragma once
/// Takes samples until the plan's rule is met.

#include <cstdint>
#include <functional>
#include <vector>

#include "driver/base/statistics.hpp"
#include "driver/plan/trial.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// A trial's samples and their statistics.
struct Samples {
  std::vector<io::Sample> all;  ///< all samples in order, including throttled ones
  /// 1: the noise is within the plan's limit, 0: it is not, -1: the plan gives a fixed number of samples.
  std::int64_t enough = -1;
  /// Returns the statistics of the samples that are not discarded.
  Statistics times() const;
  /// True if throttled samples are discarded and taken again.
  bool throttled_again = false;
};

/// Takes samples until the plan's rule is met.
///
/// Without a noise limit: takes `least` samples. Otherwise takes `least`, then more until the standard error
/// of the median is at most `noise` * median, `most` samples are taken, or `seconds` have passed. The
/// standard error of the median is 1.2533 sigma / sqrt(count), with sigma from the quartiles
/// (`relative_sigma`).
///
/// The rule limits the error of the median, because the median is reported and compared. (nvbench's stdrel
/// limits the scatter of single samples, which does not decrease with more samples of a launch-bound method.)
/// If throttled samples are discarded, at most 2 * `most` samples are taken.
/// @param take takes one sample
/// @param now returns the clock in seconds
Samples take_samples(const Sampling& sampling, const std::function<io::Sample()>& take,
                     const std::function<double()>& now);

}  // namespace gaussweep::driver
