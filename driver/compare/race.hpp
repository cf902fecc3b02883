#pragma once
/// Compares several methods that ran in the same rounds (repetitions of the trials): finds the fastest
/// method, and a confidence interval of its lead over the others. Such a comparison is called a race.

#include <cstdint>
#include <vector>

#include "driver/compare/compare_rule.hpp"
#include "driver/summary/summary.hpp"

namespace gaussweep::driver {

/// A lead is the ratio of two methods' times. A lead below this does not count as a win, because the order
/// of the methods may change from day to day.
constexpr double least_lead = 1.05;
/// An interval is narrow if its upper end is below this multiple of its lower end. More rounds are then not
/// needed.
constexpr double narrow_interval = 1.1;
/// Each method runs in at least this number of rounds, unless it is far behind.
constexpr std::int64_t least_rounds = 3;
/// The machine counts as noisy if the relative standard deviation of a method's medians from round to round
/// is larger.
constexpr double noisy_sigma = 0.15;

/// A method of a race, and the ratio of its time to that of the fastest method.
struct Racer {
  const Group* group = nullptr;
  Estimate slowdown;        ///< this method's time / the fastest method's; not set for the fastest method
  std::int64_t rounds = 0;  ///< number of rounds in which this method and the fastest one ran
  double seconds = 0;       ///< this method's median minus the fastest method's, in these rounds
  /// True if the method may be as fast as the fastest one, so that it needs further rounds.
  bool is_rival = false;
  /// The ends of the 99 % interval of the ratio.
  double low() const;
  double high() const;
};

/// The result of comparing the methods of one task.
struct Race {
  std::vector<Racer> racers;  ///< competitors that passed, the fastest one first
  /// Relative standard deviation of a method's medians from round to round: the larger value of the two
  /// fastest methods.
  double noise = 0;
  bool has_lead() const { return racers.size() > 1; }
  /// Returns the method that the result names in addition to the fastest one: the nearest rival, or the
  /// second method if there is no rival. @pre has_lead()
  const Racer& reported() const;
  /// Returns true if no other method is a rival. After `least_rounds` rounds, this means that the first
  /// method leads each of the others by more than `least_lead` with a probability of 99.5 %. The probability
  /// is this high because a race is tested after each of its rounds.
  bool is_clear() const;
  /// Returns true if further rounds would not change the reported result.
  bool is_settled() const;
};

/// Compares the methods of one task. @param task_groups one group per method, with one record per round
/// @pre the groups outlive the race
Race race_of(const std::vector<const Group*>& task_groups);

}  // namespace gaussweep::driver
