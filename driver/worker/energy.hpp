#pragma once
/// Measures the energy of one run of a method in joules, with the sensors of the GPU. The operands are
/// restored before every run, because a method may overwrite them.

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "driver/system/clock.hpp"

namespace gaussweep::driver {

/// The energy sensors of a device. `joules` and `watts` return NaN if the GPU has no such sensor.
struct EnergyMeter {
  std::function<double()> joules;  ///< reads the device's energy counter, which advances in steps
  std::function<double()> watts;   ///< reads the current power
  Clock clock;
};

/// Returns a meter of several devices. Its counter is the sum of the devices' counters. This sum advances
/// only when every device's counter has advanced. @pre the list is not empty
EnergyMeter sum_of(std::vector<EnergyMeter> meters);

/// The energy per run. Values that the sensors do not give are NaN, and then `source` is empty.
struct Energy {
  double joules = std::numeric_limits<double>::quiet_NaN();
  double uncertainty = std::numeric_limits<double>::quiet_NaN();  ///< of `joules`, in joules
  /// Mean power during the runs, including the restoring of their operands.
  double busy_watts = std::numeric_limits<double>::quiet_NaN();
  double idle_watts = std::numeric_limits<double>::quiet_NaN();
  std::string source;  ///< "counter" or "power readings"
};

/// Restores the operands and runs the method, `count` times, then waits for the device. If `with_runs` is
/// false, only restores the operands `count` times.
using DoRuns = std::function<void(std::int64_t count, bool with_runs)>;

/// Measures the energy per run. Restores the operands and runs the method for `seconds`, then only restores
/// the operands for `seconds` / 2. The result is the difference of the two energies per run.
///
/// With an energy counter: reads the counter at a step while the device is idle, and at the second step after
/// the last run. Subtracts the idle energy before and after the runs. The power changes at an unknown time
/// between two steps. The uncertainty is therefore half of the power difference (busy minus idle) times the
/// time between steps, divided by the number of runs.
///
/// Without a counter: reads the power after every few milliseconds of runs and integrates by the trapezoid
/// rule. Power sensors lag, so the readings begin after `seconds` of runs. The relative uncertainty is half
/// the range of the readings, divided by their mid-range and by the square root of their number.
///
/// The sensors' own error, about 5 % for NVIDIA's, is not included.
/// @param run_seconds approximate time of one run
/// @pre seconds > 0, run_seconds > 0
Energy measure_energy(const EnergyMeter& meter, double seconds, double run_seconds, const DoRuns& do_runs);

}  // namespace gaussweep::driver
