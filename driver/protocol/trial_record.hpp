#pragma once
/// The record of a running trial (one method on one matrix). It has the columns that are known before the
/// run, and the start times of the trial's phases (columns `…_began`). Phases are, for example, inputs,
/// warm-up and samples.

#include <string_view>
#include <vector>

#include "driver/plan/trial.hpp"
#include "driver/system/origin.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// Returns a record with the columns of results.h5 that are known before the trial runs.
/// @param method the trial's method; null if this build does not have it
/// @param origin the columns that all records of a rank share, such as host and commit
io::Record blank_record(const Trial& trial, const Method* method, const Origin& origin);

/// A phase of a trial: its name, the worker's step that begins it, and the record column of its start time.
struct Phase {
  std::string_view name, step;
  double io::Record::*began;
  bool busy;  ///< true if the device computes for the measurement: warm-up, timed, verify, stages, reference
};
/// Returns all phases in their order within a trial.
const std::vector<Phase>& phases();
/// Sets the start time of the phase that `step` begins to `now` (seconds since the epoch). Does nothing if
/// this time is already set or if no phase begins with `step`.
void begin_phase(io::Record& record, std::string_view step, double now);

}  // namespace gaussweep::driver
