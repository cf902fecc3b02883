#pragma once
/// The race of several methods that ran in the same rounds: the fastest one, and the interval of its lead.

#include <cstdint>
#include <vector>

#include "driver/compare/compare_rule.hpp"
#include "driver/summary/summary.hpp"

namespace gaussweep::driver {

/// A smaller lead decides nothing: on another day the order may be another one.
constexpr double least_lead = 1.05;
/// More rounds do not narrow an interval that is narrow already: its upper end over its lower one.
constexpr double narrow_interval = 1.1;
/// The machine is noisy if a method's medians scatter more from round to round (sigma, relative).
constexpr double noisy_sigma = 0.15;

/// A method of a race, and its time over that of the fastest one.
struct Racer {
  const Group* group = nullptr;
  Estimate behind;          ///< unknown for the fastest one
  std::int64_t rounds = 0;  ///< in which both ran
  /// True if it may still be as fast as the fastest one.
  bool is_rival = false;
};

struct Race {
  std::vector<Racer> racers;  ///< competitors that passed, the fastest one first
  double noise = 0;           ///< the larger scatter of the first two from round to round (sigma, relative)
  bool has_lead() const { return racers.size() > 1; }
  const Estimate& lead() const { return racers[1].behind; }
  /// True if the first one is surely faster than all others, or nobody else passed. Surely means a 99.5 %
  /// chance: a race is looked at after each of its rounds.
  bool is_clear() const;
  /// True if further rounds would not change what is said of the race.
  bool is_settled() const;
};

/// @param of_one_task its groups, with a record per round. @pre they outlive the race
Race race_of(const std::vector<const Group*>& of_one_task);

}  // namespace gaussweep::driver
