#pragma once
/// When there are samples enough.

#include <cstdint>
#include <functional>
#include <vector>

#include "driver/base/statistics.hpp"
#include "driver/plan/trial.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// A trial's samples, and what may be said of them.
struct Samples {
  std::vector<io::Sample> all;  ///< in the order in which they were taken, throttled ones among them
  std::int64_t enough = -1;  ///< 1: the plan's noise was reached, 0: it was not, -1: the plan gives a number
  /// Statistics of those that count.
  Statistics times() const;
  bool throttled_again = false;
};

/// Takes samples until the plan has enough.
///
/// Without a noise: `least` of them. Otherwise `least`, then more until the standard error of their median is
/// at most `noise` of it, `most` are there, or `seconds` have passed. That error is 1.2533 sigma /
/// sqrt(count), sigma from the quartiles (`relative_sigma`). The rule asks for what is reported and compared,
/// the median. The stdrel of nvbench asks for the scatter of a single sample, which more samples of a
/// launch-bound method do not lower. Where throttled samples do not count, at most twice `most` are taken.
/// @param take one sample. @param now seconds of a clock
Samples take_samples(const Sampling& sampling, const std::function<io::Sample()>& take,
                     const std::function<double()>& now);

}  // namespace gaussweep::driver
