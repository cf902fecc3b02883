#pragma once
/// Learns a rule from records.

#include "driver/rule/rule.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// Relative difference up to which two times count as equal, as in `compare`.
inline constexpr double usual_tolerance = 0.02;

/// Returns the rule with the fewest boxes whose choice is, at every size, among the best: within `tolerance`
/// of the least time, or a tie with it (the interquartile ranges overlap). Of several such methods the
/// vendor's is chosen, else the fastest. Names with the same boxes share them. Only methods that passed
/// count.
/// @throws UsageError if no record has a time
Rule learn_rule(const io::Results& results, double tolerance = usual_tolerance);

}  // namespace gaussweep::driver
