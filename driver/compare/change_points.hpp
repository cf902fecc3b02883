#pragma once
/// Finds the changes of a series of times. The algorithm E-divisive (Matteson and James 2014) proposes the
/// positions, and Student's t test decides, as in the tool Hunter (Fleming et al. 2023). E-divisive's own
/// test has no P value below 1 / (permutations + 1). The level of a series may be as low as the false alarm
/// rate divided by the number of series. At a rate of 0.01 and 10^4 series, the test would therefore need
/// about 10^6 permutations per series.

#include <cstddef>
#include <vector>

namespace gaussweep::driver {

/// The minimum number of nights on either side of a step. *Night* means one run of a series, even if the runs
/// are not nightly (trend.hpp).
inline constexpr std::size_t min_nights = 3;

/// A series of ln(time), one value per night.
struct TimeSeries {
  std::vector<double> logs;
  std::vector<int> gpus;      ///< per night: a number that identifies its GPU
  double model_variance = 0;  ///< variance of ln(time) of one night, as predicted by a noise model (Scatter)
  double gpu_variance = 0;    ///< additional variance between nights on two different GPUs of one model
};

/// A step between the nights with the indices at - 1 and `at`.
struct ChangePoint {
  std::size_t at = 0;
  double log = 0;             ///< ln(time after the step / time before)
  double low = 0, high = 0;   ///< its 95 % confidence interval
  bool is_other_gpu = false;  ///< true if the nights before the step ran on other GPUs than those after it
};

/// The changes of a series: steps, or one slow drift.
struct SeriesChange {
  std::vector<ChangePoint> steps;
  double p_value = 1;  ///< probability of a change at least as significant if nothing changed
  bool is_drift = false;
  /// ln(time in the last night / time in the first night) by the fitted line, and its 95 % confidence
  /// interval.
  double drift = 0, drift_low = 0, drift_high = 0;
};

/// Returns the position `at` in [begin, end) with the largest energy distance between the values in [begin,
/// at) and in [at, end). The energy distance of X and Y is 2 E|X - Y| - E|X - X'| - E|Y - Y'|. It is weighted
/// by m n / (m + n), where m and n are the numbers of values on the two sides.
/// @pre end - begin >= 2 * min_size, min_size >= 2
std::size_t largest_distance(const std::vector<double>& values, std::size_t begin, std::size_t end,
                             std::size_t min_size);

/// Finds the changes of a series.
/// @param level probability of finding any change in a series without changes
/// @param threshold changes of ln(time) below this are ignored
SeriesChange changes_of(const TimeSeries& series, double level, double threshold);

}  // namespace gaussweep::driver
