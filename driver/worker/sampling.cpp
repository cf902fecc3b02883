/// Takes samples (times of runs) of a method until their median is precise enough, or a limit on their number
/// or time is reached.

#include "driver/worker/sampling.hpp"

#include <algorithm>
#include <cmath>

namespace gaussweep::driver {
namespace {

/// Returns the standard error of the median, relative to the median: sqrt(pi / 2) times that of the mean.
double error_of_median(const Statistics& s) {
  return median_to_mean_error * relative_sigma(s.q1, s.median, s.q3, s.count) /
         std::sqrt(static_cast<double>(s.count));
}

}  // namespace

Statistics Samples::times() const {
  std::vector<double> unthrottled, every_time;
  for (const io::Sample& sample : all) {
    every_time.push_back(sample.seconds);
    if (!sample.throttled) unthrottled.push_back(sample.seconds);
  }
  return summarise(throttled_again && !unthrottled.empty() ? std::move(unthrottled) : std::move(every_time));
}

Samples take_samples(const Sampling& sampling, const std::function<io::Sample()>& take,
                     const std::function<double()>& now) {
  Samples samples;
  samples.throttled_again = sampling.throttled_again;
  const double start = now();
  const auto max_taken = sampling.throttled_again ? 2 * sampling.max_samples : sampling.max_samples;
  std::int64_t taken = 0, counted = 0;  // samples, and samples that are not discarded
  // The error of the median is computed only after every 5 % more samples, because sorting the samples takes
  // longer than a short run.
  std::int64_t next_check = sampling.min_samples;
  if (sampling.noise > 0) samples.enough = 0;
  while (taken < max_taken && counted < sampling.max_samples) {
    samples.all.push_back(take());
    ++taken;
    if (!samples.all.back().throttled || !sampling.throttled_again) ++counted;
    if (sampling.noise > 0 && counted >= next_check) {
      next_check = counted + std::max<std::int64_t>(1, counted / 20);
      if (error_of_median(samples.times()) <= sampling.noise) {
        samples.enough = 1;
        break;
      }
    }
    if (taken >= sampling.min_samples && sampling.seconds > 0 && now() - start >= sampling.seconds) break;
  }
  return samples;
}

}  // namespace gaussweep::driver
