// Tests how many samples of a run time are taken.

#include "driver/worker/sampling.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

/// Scripted samples, in order. The last one repeats forever. Each advances the clock by its duration.
struct Script {
  std::vector<double> seconds;
  std::vector<bool> throttled = {false};
  double clock = 0;
  std::size_t next = 0;

  Samples take(const Sampling& sampling) {
    return take_samples(
        sampling,
        [this] {
          io::Sample sample;
          sample.seconds = seconds[std::min(next, seconds.size() - 1)];
          sample.throttled = throttled[std::min(next, throttled.size() - 1)];
          ++next;
          clock += sample.seconds;
          return sample;
        },
        [this] { return clock; });
  }
};

Sampling sampling_of(std::int64_t least, std::int64_t most, double noise) {
  Sampling sampling;
  sampling.min_samples = least;
  sampling.max_samples = most;
  sampling.noise = noise;
  return sampling;
}

TEST(Sampling, TakesAFixedNumber) {
  Sampling sampling;
  sampling.min_samples = sampling.max_samples = 7;
  Script wild{{1, 9, 2, 8, 3, 7, 4}};
  const Samples samples = wild.take(sampling);
  EXPECT_EQ(samples.all.size(), 7U);
  EXPECT_EQ(samples.enough, -1);
  EXPECT_EQ(samples.times().median, 4);
}

TEST(Sampling, StopsWhenTheMedianIsKnown) {
  Script quiet{{1, 1.001, 0.999, 1, 1}};
  const Samples samples = quiet.take(sampling_of(5, 200, 0.01));
  EXPECT_EQ(samples.all.size(), 5U);
  EXPECT_EQ(samples.enough, 1);
}

TEST(Sampling, TakesMoreSamplesIfTheyScatter) {
  // The quartiles are 10 % apart, so sigma is 7.4 % and the error of the median reaches 1 % at 87 samples.
  std::vector<double> seconds;
  for (int i = 0; i < 1000; ++i) seconds.push_back(1 + 0.2 * ((i * 37 % 100) / 99.0 - 0.5));
  Script noisy{seconds};
  const Samples samples = noisy.take(sampling_of(5, 500, 0.01));
  EXPECT_EQ(samples.enough, 1);
  EXPECT_GT(samples.all.size(), 60U);
  EXPECT_LT(samples.all.size(), 120U);
  Script short_of_samples{seconds};
  const Samples few = short_of_samples.take(sampling_of(5, 20, 0.01));
  EXPECT_EQ(few.all.size(), 20U);
  EXPECT_EQ(few.enough, 0);
}

TEST(Sampling, StopsAtItsTimeLimitButTakesTheMinimum) {
  Sampling sampling = sampling_of(5, 200, 0.001);
  sampling.seconds = 2;
  Script slow{{1, 1.2, 0.8, 1.1, 0.9, 1.05, 1.3}};
  const Samples samples = slow.take(sampling);
  EXPECT_EQ(samples.all.size(), 5U) << "the limit of two seconds";
  EXPECT_EQ(samples.enough, 0);
  Script quick{{0.1, 0.12, 0.08}};
  quick.seconds.insert(quick.seconds.end(), {0.15, 0.05, 0.13, 0.07});
  EXPECT_GT(quick.take(sampling).all.size(), 7U);
}

TEST(Sampling, CountsThrottledSamplesUnlessThePlanRepeatsThem) {
  Script script{{1, 5, 1, 5, 1, 1, 1}, {false, true, false, true, false, false, false}};
  Sampling sampling = sampling_of(5, 5, 0.01);
  EXPECT_EQ(script.take(sampling).times().mean, 13.0 / 5);
  Script again = script;
  again.next = 0;
  sampling.throttled_again = true;
  const Samples samples = again.take(sampling);
  EXPECT_EQ(samples.all.size(), 7U) << "all are kept";
  EXPECT_EQ(samples.times().max, 1) << "only unthrottled times count";
}

TEST(Sampling, EndsOnAGpuThatAlwaysThrottles) {
  Script script{{1}, {true}};
  Sampling sampling = sampling_of(5, 8, 0.01);
  sampling.throttled_again = true;
  const Samples samples = script.take(sampling);
  EXPECT_EQ(samples.all.size(), 16U);
  EXPECT_EQ(samples.enough, 0);
  EXPECT_EQ(samples.times().median, 1) << "kept and flagged";
}

}  // namespace
}  // namespace gaussweep::driver
