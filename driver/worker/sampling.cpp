#include "driver/worker/sampling.hpp"

#include <algorithm>
#include <cmath>

namespace gaussweep::driver {
namespace {

/// The standard error of their median, as a share of it.
double error_of_median(const Statistics& s) {
  return median_error * relative_sigma(s.q1, s.median, s.q3, s.count) /
         std::sqrt(static_cast<double>(s.count));
}

}  // namespace

Statistics Samples::times() const {
  std::vector<double> good, every;
  for (const io::Sample& sample : all) {
    every.push_back(sample.seconds);
    if (!sample.throttled) good.push_back(sample.seconds);
  }
  return summarise(throttled_again && !good.empty() ? std::move(good) : std::move(every));
}

Samples take_samples(const Sampling& sampling, const std::function<io::Sample()>& take,
                     const std::function<double()>& now) {
  Samples samples;
  samples.throttled_again = sampling.throttled_again;
  const double start = now();
  const auto most_taken = sampling.throttled_again ? 2 * sampling.most : sampling.most;
  std::int64_t taken = 0, counted = 0;
  std::int64_t next_look =
      sampling.least;  // sorting all of them for every single one would be the work of the night
  if (sampling.noise > 0) samples.enough = 0;
  while (taken < most_taken && counted < sampling.most) {
    samples.all.push_back(take());
    ++taken;
    if (!samples.all.back().throttled || !sampling.throttled_again) ++counted;
    if (sampling.noise > 0 && counted >= next_look) {
      next_look = counted + std::max<std::int64_t>(1, counted / 20);
      if (error_of_median(samples.times()) <= sampling.noise) {
        samples.enough = 1;
        break;
      }
    }
    if (taken >= sampling.least && sampling.seconds > 0 && now() - start >= sampling.seconds) break;
  }
  return samples;
}

}  // namespace gaussweep::driver
