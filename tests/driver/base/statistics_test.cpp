// Tests the statistics of samples: quartiles, mean, standard deviation, quantiles.

#include "driver/base/statistics.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(Statistics, AgreesWithNumpy) {
  // numpy.quantile([3, 1, 4, 1.5, 9, 2.6], [.25, .5, .75]) = [1.775, 2.8, 3.75]; std(ddof=1)
  // = 2.8916546589568171
  const Statistics s = summarise({3, 1, 4, 1.5, 9, 2.6});
  EXPECT_DOUBLE_EQ(s.min, 1);
  EXPECT_DOUBLE_EQ(s.q1, 1.775);
  EXPECT_DOUBLE_EQ(s.median, 2.8);
  EXPECT_DOUBLE_EQ(s.q3, 3.75);
  EXPECT_DOUBLE_EQ(s.max, 9);
  EXPECT_DOUBLE_EQ(s.mean, 21.1 / 6);
  EXPECT_NEAR(s.stdev, 2.8916546589568171, 1e-14);
  EXPECT_EQ(s.count, 6U);
}

TEST(Statistics, QuartilesOfFiveSamplesAreSamples) {
  const Statistics s = summarise({5, 4, 3, 2, 1});
  EXPECT_EQ(std::tuple(s.q1, s.median, s.q3), std::tuple(2, 3, 4));
}

TEST(Statistics, OneSampleHasNoSpread) {
  const Statistics s = summarise({0.5});
  EXPECT_EQ(std::tuple(s.min, s.q1, s.median, s.q3, s.mean), std::tuple(0.5, 0.5, 0.5, 0.5, 0.5));
  EXPECT_TRUE(std::isnan(s.stdev));
}

TEST(Statistics, NoSamplesGiveNaN) {
  const Statistics s = summarise({});
  EXPECT_TRUE(std::isnan(s.min));
  EXPECT_TRUE(std::isnan(s.median));
  EXPECT_TRUE(std::isnan(s.mean));
  EXPECT_EQ(s.count, 0U);
}

TEST(Statistics, PropagatesNaN) {
  const Statistics s = summarise({1, std::numeric_limits<double>::quiet_NaN(), 2});
  EXPECT_TRUE(std::isnan(s.median));
  EXPECT_TRUE(std::isnan(s.max));
  EXPECT_EQ(s.count, 3U);
}

TEST(Statistics, SeparatesSamplesThatDifferInTheLastDigits) {
  // The textbook formula (mean of squares minus squared mean) cancels here; the two-pass formula does not.
  const Statistics s = summarise({1e6 + 1e-3, 1e6, 1e6 - 1e-3});
  EXPECT_NEAR(s.stdev, 1e-3, 1e-9);
}

TEST(Quantile, InterpolatesBetweenSamples) {
  EXPECT_EQ(quantile({1, 2, 10}, 0), 1);
  EXPECT_EQ(quantile({1, 2, 10}, 1), 10);
  EXPECT_DOUBLE_EQ(quantile({1, 2, 10}, 0.75), 6);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

}  // namespace
}  // namespace gaussweep::driver
