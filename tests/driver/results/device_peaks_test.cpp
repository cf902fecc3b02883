// Tests that several measurements of a device's peaks are unified to the largest.

#include "driver/results/device_peaks.hpp"

#include "driver/results/journal_results.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

io::DeviceRow cpu_of_rank(double copy, double flops) {
  io::DeviceRow row;
  row.gpu_name = "Xeon";
  row.host = "node1";
  row.copy_bytes_per_second = copy;
  row.gemm_flops_float = row.gemm_flops_double = flops;
  return row;
}

Record cpu_record(double share) {
  Record r = example_record("lapack", 64, {1});
  r.backend = "host";
  r.gpu_name = {};
  r.capability = 0;
  r.bytes = 10;
  r.flops = 100;
  r.peak_share = share;
  return r;
}

TEST(DevicePeaks, RanksOfOneCpuShareTheLargestPeak) {
  io::JournalContents journal;
  journal.notes = {io::note::Device{cpu_of_rank(20, 500), {}}, io::note::Device{cpu_of_rank(40, 200), {}}};
  journal.records = {cpu_record(0.5), cpu_record(0.25), cpu_record(Record::unknown)};
  const io::Results results = results_of(std::move(journal));
  ASSERT_EQ(results.devices.size(), 1U);
  EXPECT_EQ(results.devices[0].copy_bytes_per_second, 40);
  EXPECT_EQ(results.devices[0].gemm_flops_double, 500);
  EXPECT_DOUBLE_EQ(results.records[0].peak_share, 0.25) << "10 bytes of 40 bytes per second in 1 s";
  EXPECT_DOUBLE_EQ(results.records[1].peak_share, 0.25);
  EXPECT_TRUE(std::isnan(results.records[2].peak_share));
}

TEST(DevicePeaks, SeveralGpusHaveTheirPeaksTogether) {
  io::Results results;
  results.devices = {cpu_of_rank(20, 500), cpu_of_rank(40, 200)};
  results.records = {cpu_record(0.1), cpu_record(0.1)};
  results.records[1].gpu_count = "2";
  unify_peaks(results);
  EXPECT_DOUBLE_EQ(results.records[0].peak_share, 0.25);
  EXPECT_DOUBLE_EQ(results.records[1].peak_share, 0.125);
}

TEST(DevicePeaks, LargerPeakClearsSuspectTimes) {
  io::Results results;
  results.devices = {cpu_of_rank(1, 10), cpu_of_rank(1, 80), cpu_of_rank(1, Record::unknown)};
  results.devices[2].host = "node2";
  results.records = {cpu_record(10), cpu_record(100)};
  results.records[1].flops = 1000;
  for (Record& r : results.records) {
    r.bytes = 0;
    r.timing = "suspect";
  }
  unify_peaks(results);
  EXPECT_EQ(results.records[0].timing, "") << "1.25 times the peak is within the slack";
  EXPECT_EQ(results.records[1].timing, "suspect") << "12.5 times is not";
  EXPECT_EQ(results.devices[0].gemm_flops_double, 80);
  EXPECT_TRUE(std::isnan(results.devices[2].gemm_flops_double)) << "another machine";
}

}  // namespace
}  // namespace gaussweep::driver
