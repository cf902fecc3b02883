#pragma once
/// Where a series of times changes: E-divisive (Matteson and James 2014) finds the places, Student's t
/// decides, as in Hunter (Fleming et al. 2023). A permutation test of the same rate would need more than 10^6
/// permutations a series.

#include <cstddef>
#include <vector>

namespace gaussweep::driver {

inline constexpr std::size_t least_nights = 3;  ///< on either side of a step

/// A series: ln of a time, a night each.
struct TimeSeries {
  std::vector<double> logs;
  std::vector<int> groups;    ///< a number a GPU, as many as logs
  double model_variance = 0;  ///< of one night, where nothing changed
  double group_variance = 0;  ///< between two GPUs, beside it
};

/// A step between night at - 1 and night `at`.
struct ChangePoint {
  std::size_t at = 0;
  double log = 0;               ///< ln of the time after over that before
  double low = 0, high = 0;     ///< its interval of 95 %
  bool is_other_group = false;  ///< no GPU is on both sides
};

/// What a series shows: steps, or one slow drift.
struct SeriesChange {
  std::vector<ChangePoint> steps;
  double tail = 1;  ///< P of so clear a change, or a clearer one, where there is none
  bool is_drift = false;
  double drift = 0, drift_low = 0, drift_high = 0;  ///< ln of the last night's over the first one's
};

/// The place in [begin, end) where the energy distance of both sides, weighed by their sizes, is largest.
/// @pre end - begin >= 2 * least, least >= 2
std::size_t largest_distance(const std::vector<double>& values, std::size_t begin, std::size_t end,
                             std::size_t least);

/// @param level the probability of finding anything in a series in which nothing changed
/// @param threshold a smaller change does not count, of ln
SeriesChange changes_of(const TimeSeries& series, double level, double threshold);

}  // namespace gaussweep::driver
