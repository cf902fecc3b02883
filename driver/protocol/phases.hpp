#pragma once
/// What a trial's time goes into: when each phase began (the record's `…_began`).

#include <string_view>
#include <vector>

#include "io/records/record.hpp"

namespace gaussweep::driver {

/// A phase: its name, the step of the worker that begins it, and where a record keeps when.
struct Phase {
  std::string_view name, step;
  double io::Record::*began;
  bool busy;  ///< a device at work for a measurement: timed, warm-up, verification, stages, reference
};
/// All phases, in the order in which a trial goes through them.
const std::vector<Phase>& phases();
/// Notes in a record that a phase begins, at `now` (seconds since the epoch). Does so if the step begins one
/// and none of that name has begun yet.
void begin_phase(io::Record& record, std::string_view step, double now);

}  // namespace gaussweep::driver
