#pragma once
/// Joules of a run.

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "driver/system/clock.hpp"

namespace gaussweep::driver {

/// What tells energy. A function returns NaN where its GPU does not tell.
struct EnergyMeter {
  std::function<double()> joules;  ///< a counter that goes on in steps
  std::function<double()> watts;
  Clock clock;
};

/// Energy of one run. NaN and empty where nothing tells.
struct Energy {
  double joules = std::numeric_limits<double>::quiet_NaN();
  double uncertainty = std::numeric_limits<double>::quiet_NaN();  ///< joules
  double busy_watts = std::numeric_limits<double>::quiet_NaN();   ///< mean, of runs and their operands
  double idle_watts = std::numeric_limits<double>::quiet_NaN();
  std::string source;  ///< "counter", "power readings"
};

/// Does `count` runs on fresh operands, or only makes the operands, and waits for the device.
using DoRuns = std::function<void(std::int64_t count, bool with_runs)>;

/// Measures for `seconds` with runs and for half as long without them, and subtracts.
///
/// With a counter: from one of its steps, with the device idle, over all runs, to its second step after the
/// last one. Idle power before and after is subtracted. Uncertain is when between two steps the power
/// changed: half a step's time, at the difference between busy and idle power. Without a counter: power
/// readings after every few milliseconds of runs, integrated by the trapezoid rule. They begin after
/// `seconds` of runs, for sensors lag. The uncertainty is the readings' range over the root of their number.
/// NVIDIA's sensors themselves are good to about 5 %, which is not counted here.
/// @param run_seconds about how long one run takes. @pre seconds > 0, run_seconds > 0
Energy measure_energy(const EnergyMeter& meter, double seconds, double run_seconds, const DoRuns& do_runs);

}  // namespace gaussweep::driver
