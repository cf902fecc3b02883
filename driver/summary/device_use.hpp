#pragma once
/// The use of devices over time, computed from the phases (such as inputs, warm-up, samples) of the trials.

#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/protocol/trial_record.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// The interval of one phase of a trial. It ends when the next phase begins or the trial ends.
struct Interval {
  const Phase* phase;
  double began, ended;  ///< seconds since the epoch
};
/// Returns a record's phases in order of time. Empty if an older version made the record, or if the clock was
/// set back during the trial.
std::vector<Interval> intervals_of(const io::Record& record);

/// The activity of one device, from its first trial to its last. A device is a GPU, or the CPU of a rank
/// without GPU.
struct DeviceUse {
  std::string run, device, host;
  std::int64_t rank = 0;
  std::int64_t trials = 0;
  double span = 0;              ///< seconds from the beginning of the first trial to the end of the last
  std::vector<double> seconds;  ///< per element of phases(), summed over the trials
  double cpu_methods = 0;  ///< seconds in which this device, a GPU, was idle because its rank ran CPU methods
  double lost = 0;         ///< seconds of trials that timed out or crashed, and so have no phases
  double busy() const;     ///< fraction of the span in which the device was busy
  /// Returns the idle fractions, largest first: "inputs 12%, methods of the CPU 3%".
  std::string idle_text() const;
};
/// Returns one entry per device and run, in order of first appearance. Records without phases are ignored,
/// unless the trial timed out or crashed.
std::vector<DeviceUse> use_of_devices(const std::vector<const io::Record*>& records);
/// Returns the table that `status` and `summary` show; runs are numbered if there are several.
Table device_use_table(std::vector<DeviceUse> uses);

}  // namespace gaussweep::driver
