#pragma once
/// The phases of a trial and the times at which they begin (a record's `…_began` columns).

#include <string_view>
#include <vector>

#include "io/records/record.hpp"

namespace gaussweep::driver {

/// A phase: its name, the worker's step that begins it, and the record column of its start time.
struct Phase {
  std::string_view name, step;
  double io::Record::*began;
  bool busy;  ///< true if the device works on a measurement: warm-up, timed, verify, stages, reference
};
/// Returns all phases in their order within a trial.
const std::vector<Phase>& phases();
/// Sets the start time of the phase that `step` begins to `now` (seconds since the epoch), unless it is
/// already set or no phase begins with `step`.
void begin_phase(io::Record& record, std::string_view step, double now);

}  // namespace gaussweep::driver
