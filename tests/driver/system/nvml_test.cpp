// Tests the warnings about GPU settings, and GPU properties read through NVML.

#include "driver/system/nvml.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(Nvml, ReportsOnlySlowdownsAsThrottling) {
  EXPECT_EQ(throttle_names(0), "");
  EXPECT_EQ(throttle_names(0x1), "") << "idle";
  EXPECT_EQ(throttle_names(0x2), "") << "application clocks";
  EXPECT_EQ(throttle_names(0x4), "sw_power_cap");
  EXPECT_EQ(throttle_names(0x8), "hw_slowdown");
  EXPECT_EQ(throttle_names(0x20), "sw_thermal");
  EXPECT_EQ(throttle_names(0x40), "hw_thermal");
  EXPECT_EQ(throttle_names(0x80), "hw_power_brake");
  EXPECT_EQ(throttle_names(0x1 | 0x4 | 0x40), "sw_power_cap+hw_thermal");
}

TEST(Nvml, AWellConfiguredGpuGivesNoWarning) {
  GpuSetup setup;
  setup.ecc = true;
  setup.mig = false;
  setup.power_limit_w = setup.power_default_w = 700;
  EXPECT_TRUE(setup_warnings(setup).empty());
  EXPECT_TRUE(setup_warnings(GpuSetup{}).empty()) << "unknown values give no warning";
}

TEST(Nvml, WarnsOfEachSetting) {
  GpuSetup setup;
  setup.ecc = false;
  setup.mig = true;
  setup.power_limit_w = 500;
  setup.power_default_w = 700;
  setup.processes = {{1234, std::int64_t{512} << 20}, {99, -1}};
  const auto warnings = setup_warnings(setup);
  ASSERT_EQ(warnings.size(), 4U);
  EXPECT_NE(warnings[0].find("ECC is off"), std::string::npos);
  EXPECT_NE(warnings[1].find("MIG is on"), std::string::npos);
  EXPECT_EQ(warnings[2], "the power cap is 500 W, below the default of 700 W");
  EXPECT_EQ(warnings[3], "2 other processes are on this GPU: pid 1234 with 512 MiB, pid 99");
}

TEST(Nvml, WithoutTheLibraryEverythingIsUnknown) {
  const Nvml nvml("libno-such-library.so.7");
  EXPECT_FALSE(nvml.available());
  EXPECT_NE(nvml.why().find("libno-such-library"), std::string::npos);
  EXPECT_EQ(nvml.driver_version(), "");
  EXPECT_TRUE(nvml.setups().empty());
  GpuSampler sampler(nvml, "GPU-00000000-0000-0000-0000-000000000000");
  EXPECT_FALSE(sampler.available());
  const GpuReading reading = sampler.read();
  EXPECT_TRUE(std::isnan(reading.sm_clock_mhz));
  EXPECT_TRUE(std::isnan(reading.power_w));
  EXPECT_FALSE(reading.throttled);
}

TEST(Nvml, RejectsAnotherLibrary) {
  const Nvml nvml("libm.so.6");
  EXPECT_FALSE(nvml.available());
  EXPECT_NE(nvml.why().find("nvmlInit_v2"), std::string::npos) << nvml.why();
}

TEST(Nvml, ReadsTheGpusIfThereIsADriver) {
  const Nvml nvml;
  if (!nvml.available()) GTEST_SKIP() << "no NVIDIA driver here: " << nvml.why();
  EXPECT_FALSE(nvml.driver_version().empty());
  for (const GpuSetup& setup : nvml.setups()) {
    EXPECT_FALSE(setup.uuid.empty());
    GpuSampler sampler(nvml, setup.uuid);
    ASSERT_TRUE(sampler.available()) << setup.uuid;
    const GpuReading reading = sampler.read();
    EXPECT_GT(reading.sm_clock_mhz, 0);
    EXPECT_EQ(reading.throttled, !reading.throttle_reason.empty());
  }
}

}  // namespace
}  // namespace gaussweep::driver
