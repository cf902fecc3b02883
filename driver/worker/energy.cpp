/// Measures the energy of one run of a method in joules. The runs between two readings of a sensor or clock
/// are a chunk.

#include "driver/worker/energy.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace gaussweep::driver {
namespace {

// Wait before the idle power is read, because a reading is a mean over up to 1 s.
constexpr double settle_seconds = 1.5;
constexpr double chunk_seconds = 0.01;  // time of the runs between two readings of the clock
constexpr double poll_seconds = 1e-3;   // interval between two readings of the counter
// Seconds; a counter that does not advance within this time is regarded as absent.
constexpr double longest_step = 2;
constexpr std::int64_t max_chunk = 100'000;  // maximum number of runs between two readings of the clock

/// The energy of one of the two measurements: runs with restored operands, or restoring operands alone.
struct PartEnergy {
  double joules = std::numeric_limits<double>::quiet_NaN();  ///< per run
  double uncertainty = 0;                                    ///< joules per run
  double watts = std::numeric_limits<double>::quiet_NaN();
};

/// A step of the counter: the time of the step and the new value.
struct Step {
  double time, joules;
};
/// Waits for the counter's next step. `joules` is NaN if the counter does not advance.
Step next_step(const EnergyMeter& meter) {
  const double before = meter.joules(), start = meter.clock.now();
  for (;;) {
    const double joules = meter.joules(), now = meter.clock.now();
    if (!std::isfinite(joules) || now - start > longest_step) return {now, std::nan("")};
    if (joules != before) return {now, joules};
    meter.clock.wait(poll_seconds);
  }
}

/// Does runs for `seconds`, `chunk` runs at a time. Calls `after_chunk` after every chunk.
/// @return the number of runs
template <class After>
std::int64_t run_for(const EnergyMeter& meter, double seconds, std::int64_t chunk, bool with_runs,
                     const DoRuns& do_runs, After&& after_chunk) {
  const double start = meter.clock.now();
  std::int64_t runs = 0;
  do {
    do_runs(chunk, with_runs);
    runs += chunk;
    after_chunk();
  } while (meter.clock.now() - start < seconds);
  return runs;
}

/// Measures with the energy counter (see measure_energy).
PartEnergy by_counter(const EnergyMeter& meter, double seconds, std::int64_t chunk, bool with_runs,
                      double idle_watts, const DoRuns& do_runs) {
  meter.clock.wait(settle_seconds);
  const Step before = next_step(meter);
  const double start = meter.clock.now();
  const double runs = static_cast<double>(run_for(meter, seconds, chunk, with_runs, do_runs, [] {}));
  const double end = meter.clock.now();
  const Step first_after = next_step(meter), after = next_step(meter);
  const double step_seconds = after.time - first_after.time, busy_seconds = end - start;
  const double idle_joules = idle_watts * (after.time - before.time - busy_seconds);
  const double busy_joules = after.joules - before.joules - idle_joules;
  return {busy_joules / runs, std::fabs(busy_joules / busy_seconds - idle_watts) * step_seconds / 2 / runs,
          busy_joules / busy_seconds};
}

/// Measures by integrating power readings (see measure_energy).
PartEnergy by_power(const EnergyMeter& meter, double seconds, std::int64_t chunk, bool with_runs,
                    const DoRuns& do_runs) {
  run_for(meter, seconds, chunk, with_runs, do_runs, [] {});  // not measured, because power sensors lag
  double joules = 0, low = meter.watts(), high = low, last_watts = low, last = meter.clock.now();
  const double start = last;
  std::int64_t readings = 1;
  const std::int64_t runs = run_for(meter, seconds, chunk, with_runs, do_runs, [&] {
    const double watts = meter.watts(), now = meter.clock.now();
    joules += (watts + last_watts) / 2 * (now - last);
    low = std::fmin(low, watts);
    high = std::fmax(high, watts);
    last_watts = watts;
    last = now;
    ++readings;
  });
  const double mean_run = joules / static_cast<double>(runs);
  const double mean_watts = (low + high) / 2;
  return {mean_run, mean_run * (high - low) / 2 / mean_watts / std::sqrt(static_cast<double>(readings)),
          joules / (last - start)};
}

double mean_idle_watts(const EnergyMeter& meter) {
  constexpr int readings = 20;
  meter.clock.wait(settle_seconds);
  double sum = 0;
  for (int i = 0; i < readings; ++i) {
    sum += meter.watts();
    meter.clock.wait(chunk_seconds);
  }
  return sum / readings;
}

}  // namespace

EnergyMeter sum_of(std::vector<EnergyMeter> meters) {
  const Clock clock = meters.front().clock;
  const auto watts = [meters] {
    double sum = 0;
    for (const EnergyMeter& meter : meters) sum += meter.watts();
    return sum;
  };
  std::vector<double> last(meters.size(), -1.0);  // the counters at the last advance of the sum; -1: none yet
  const auto joules = [meters = std::move(meters), last = std::move(last), sum = 0.0]() mutable {
    std::vector<double> now;
    for (const EnergyMeter& meter : meters) now.push_back(meter.joules());
    const bool all_advanced = std::equal(now.begin(), now.end(), last.begin(), std::not_equal_to<>());
    if (!all_advanced) return sum;
    last = now;
    return sum = std::accumulate(now.begin(), now.end(), 0.0);
  };
  return {joules, watts, clock};
}

Energy measure_energy(const EnergyMeter& meter, double seconds, double run_seconds, const DoRuns& do_runs) {
  Energy energy;
  energy.idle_watts = mean_idle_watts(meter);
  const bool has_counter = std::isfinite(meter.joules());
  if (!std::isfinite(energy.idle_watts)) return energy;
  const auto part = [&](double measured_seconds, bool runs, double seconds_per_run) {
    const std::int64_t chunk =
        std::clamp(static_cast<std::int64_t>(chunk_seconds / seconds_per_run), std::int64_t{1}, max_chunk);
    return has_counter ? by_counter(meter, measured_seconds, chunk, runs, energy.idle_watts, do_runs)
                       : by_power(meter, measured_seconds, chunk, runs, do_runs);
  };
  constexpr bool with_runs = true, only_restoring = false;
  const PartEnergy total = part(seconds, with_runs, run_seconds);
  // The time of restoring the operands is unknown, so it is measured first.
  constexpr int tries = 3;
  const double start = meter.clock.now();
  do_runs(tries, only_restoring);
  const double restore_seconds = std::max((meter.clock.now() - start) / tries, 1e-7);
  const PartEnergy restoring = part(seconds / 2, only_restoring, restore_seconds);
  energy.joules = total.joules - restoring.joules;
  energy.busy_watts = total.watts;
  energy.uncertainty = std::hypot(total.uncertainty, restoring.uncertainty);
  if (std::isfinite(energy.joules)) energy.source = has_counter ? "counter" : "power readings";
  return energy;
}

}  // namespace gaussweep::driver
