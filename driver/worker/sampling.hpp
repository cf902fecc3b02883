#pragma once
/// Warm-up and timed samples of a method: decides how often the method of a trial (one method on one matrix)
/// runs. A sample is the time of one run, or of several runs together.

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "driver/base/statistics.hpp"
#include "driver/plan/trial.hpp"
#include "driver/system/clock.hpp"
#include "io/records/record.hpp"
#include "kernels/staging/method_run.hpp"

namespace gaussweep::driver {

/// Runs the method until the plan's warm-up is done.
/// @param counted number of the plan's warm-up runs that the caller does itself, so that this function leaves
/// them out
template <class T>
void warm_up(MethodRun<T>& run, const Sampling& sampling, std::int64_t counted) {
  const double start = now_seconds();
  for (; counted < sampling.warmup; ++counted) run.warm_up();
  while (now_seconds() - start < sampling.warmup_seconds) run.warm_up();
}

/// Returns the maximum seconds to wait, before samples, until the thread that stores matrices
/// (store_writer.hpp) has paused. A GPU run is hardly disturbed if this thread still writes to a slow disk; a
/// CPU run would lose a core.
inline double pause_timeout(Backend backend) {
  return backend == Backend::cuda ? 5e-3 : std::numeric_limits<double>::infinity();
}

/// A trial's samples and their statistics.
struct Samples {
  std::vector<io::Sample> all;  ///< all samples in order, including throttled ones
  /// 1: the error of the median is within the plan's limit `noise`; 0: it is not; -1: the plan has no limit.
  std::int64_t enough = -1;
  /// Returns the statistics of the samples that are not discarded, or of all samples if all were throttled.
  Statistics times() const;
  /// True if a sample during which the GPU throttled its clock is discarded and taken again.
  bool throttled_again = false;
};

/// Takes samples until the plan's rule is met.
///
/// Without a noise limit (`sampling.noise` is 0): takes `max_samples` samples, or fewer if `seconds` have
/// passed and at least `min_samples` were taken. With a noise limit: also stops, after `min_samples`, once
/// the standard error of the median is at most `sampling.noise` * median. For normal noise, this standard
/// error is sqrt(pi / 2) sigma / sqrt(count). Here count is the number of samples, and sigma their standard
/// deviation, estimated from the quartiles (`relative_sigma`).
///
/// The rule limits the error of the median, because the median is reported and compared. In contrast, the
/// stdrel criterion of nvbench limits the scatter of single samples, which more samples do not reduce. If
/// throttled samples are discarded, at most 2 * `max_samples` samples are taken.
/// @param take takes one sample
/// @param now returns the clock in seconds
Samples take_samples(const Sampling& sampling, const std::function<io::Sample()>& take,
                     const std::function<double()>& now);

}  // namespace gaussweep::driver
