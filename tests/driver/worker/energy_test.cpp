// Tests the measurement of energy per run, on a simulated GPU.

#include "driver/worker/energy.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

/// A GPU with known power while idle, while it makes operands, and while it runs. Its exact energy counter
/// advances in steps of `period`.
struct FakeGpu {
  double idle = 80, making_operands = 300, running = 650;  // watts
  double make_seconds = 1e-4, run_seconds = 1e-3;          // per run
  double period = 0.1;
  double now = 100, joules = 5000, reading = 5000, read_at = 100;

  void pass(double seconds, double watts) {
    while (seconds > 0) {
      const double step = std::min(seconds, read_at + period - now);
      now += step;
      joules += watts * step;
      seconds -= step;
      if (now >= read_at + period - 1e-12) {
        reading = joules;
        read_at = now;
      }
    }
  }
  EnergyMeter meter(bool has_counter, bool has_power = true) {
    EnergyMeter m;
    m.joules = [this, has_counter] {
      pass(20e-6, idle);
      return has_counter ? reading : std::nan("");
    };
    m.watts = [this, has_power] { return has_power ? watts_now : std::nan(""); };
    m.clock.now = [this] { return now; };
    m.clock.wait = [this](double seconds) {
      watts_now = idle;
      pass(seconds, idle);
    };
    return m;
  }
  void do_runs(std::int64_t count, bool with_runs) {
    watts_now = with_runs
                    ? (making_operands * make_seconds + running * run_seconds) / (make_seconds + run_seconds)
                    : making_operands;
    pass(static_cast<double>(count) * make_seconds, making_operands);
    if (with_runs) pass(static_cast<double>(count) * run_seconds, running);
  }
  Energy measure(double seconds, bool has_counter, bool has_power = true) {
    return measure_energy(meter(has_counter, has_power), seconds, run_seconds,
                          [this](std::int64_t count, bool with_runs) { do_runs(count, with_runs); });
  }
  double watts_now = 80;
};

TEST(Energy, CounterGivesJoulesPerRunWithoutOperands) {
  FakeGpu gpu;
  const Energy energy = gpu.measure(2, true);
  EXPECT_NEAR(energy.joules, 0.65, 0.005 * 0.65);
  EXPECT_LT(std::fabs(energy.joules - 0.65), energy.uncertainty);
  EXPECT_LT(energy.uncertainty, 0.05 * 0.65);
  EXPECT_EQ(energy.source, "counter");
  EXPECT_NEAR(energy.idle_watts, 80, 1e-9);
  EXPECT_NEAR(energy.busy_watts, (300 * 1e-4 + 650 * 1e-3) / 1.1e-3, 5);
}

TEST(Energy, TheSumOfCountersAdvancesWithTheLastOfThem) {
  double fast = 0, slow = 100;
  const auto meter_of = [](const double& counter, double watts) {
    return EnergyMeter{[&counter] { return counter; }, [watts] { return watts; }, {}};
  };
  const EnergyMeter sum = sum_of({meter_of(fast, 70), meter_of(slow, 80)});
  EXPECT_EQ(sum.watts(), 150);
  EXPECT_EQ(sum.joules(), 100);
  fast = 5;
  EXPECT_EQ(sum.joules(), 100);
  slow = 103;
  EXPECT_EQ(sum.joules(), 108);
  slow = std::nan("");
  fast = 6;
  EXPECT_TRUE(std::isnan(sum.joules()));
}

TEST(Energy, ShortMeasurementsAreMoreUncertain) {
  FakeGpu gpu, longer;
  const Energy brief = gpu.measure(0.1, true), thorough = longer.measure(10, true);
  EXPECT_GT(brief.uncertainty, 10 * thorough.uncertainty);
  EXPECT_LT(std::fabs(brief.joules - 0.65), brief.uncertainty);
}

TEST(Energy, MeasuresMicrosecondsAndSeconds) {
  for (const double run : {1e-4, 3.0}) {
    FakeGpu gpu;
    gpu.run_seconds = run;
    gpu.make_seconds = run / 20;
    const Energy energy = gpu.measure(1, true);
    EXPECT_NEAR(energy.joules, 650 * run, 0.03 * 650 * run) << run;
    EXPECT_LT(std::fabs(energy.joules - 650 * run), energy.uncertainty) << run;
  }
}

TEST(Energy, IntegratesPowerWithoutACounter) {
  FakeGpu gpu;
  const Energy energy = gpu.measure(2, false);
  EXPECT_EQ(energy.source, "power readings");
  EXPECT_NEAR(energy.joules, 0.65, 0.01 * 0.65);
}

TEST(Energy, IsUnknownWithoutReadings) {
  FakeGpu gpu, stuck;
  const Energy none = gpu.measure(1, false, false);
  EXPECT_TRUE(std::isnan(none.joules));
  EXPECT_EQ(none.source, "");
  stuck.period = 1e9;  // a counter that never advances
  const Energy still = stuck.measure(1, true);
  EXPECT_TRUE(std::isnan(still.joules));
  EXPECT_EQ(still.source, "");
}

}  // namespace
}  // namespace gaussweep::driver
