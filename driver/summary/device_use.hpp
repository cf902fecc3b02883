#pragma once
/// What the phases of trials say of the devices that they ran on.

#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/protocol/phases.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// A phase of one trial, from its beginning to that of the next one, or the trial's end.
struct Interval {
  const Phase* phase;
  double began, ended;  ///< seconds since the epoch
};
/// Those of a record in order of time; none where it is of a version that kept none, or its clock was set.
std::vector<Interval> intervals_of(const io::Record& record);

/// What one device, or the CPU of one rank, did between its first trial and its last.
struct DeviceUse {
  std::string device, host;
  std::int64_t rank = 0;
  std::int64_t trials = 0;
  double span = 0;              ///< seconds from the first phase's beginning to the last one's end
  std::vector<double> seconds;  ///< by phase
  double cpu_methods = 0;  ///< seconds of trials that ran on the CPU beside a GPU, which had nothing to do
  double busy() const;     ///< share of the span
  /// What it was not busy with, the longest first: "inputs 12%, methods of the CPU 3%".
  std::string otherwise() const;
};
/// A row a device and run, in order of first appearance; records without phases count for none.
std::vector<DeviceUse> use_of_devices(const std::vector<const io::Record*>& records);
/// As `status` and `summary` show it.
Table device_use_table(const std::vector<DeviceUse>& uses);

}  // namespace gaussweep::driver
