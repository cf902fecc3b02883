// Tests how a trial's time is divided by the begin times of its phases.

#include "driver/summary/device_use.hpp"
#include "driver/system/clock.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

constexpr const char* start = "2026-03-01T12:00:00Z";

/// Returns a record that waited for 1 s, made its inputs in 2 s, was timed for 3 s and verified for 4 s.
io::Record measured(double offset = 0, const char* gpu = "a GPU") {
  const double began = parse_time(start) + offset;
  io::Record record;
  record.run_id = "run";
  record.host = "host";
  record.gpu_name = gpu;
  begin_phase(record, "wait", began);
  begin_phase(record, "inputs", began + 1);
  begin_phase(record, "samples", began + 3);
  begin_phase(record, "verify", began + 6);
  const int end = static_cast<int>(offset) + 10;
  record.end_time = "2026-03-01T12:00:" + std::to_string(end) + ".000000Z";
  return record;
}

TEST(Phases, EndWhereTheNextBegins) {
  const auto intervals = intervals_of(measured());
  ASSERT_EQ(intervals.size(), 4u);
  const char* names[] = {"wait", "inputs", "timed", "verify"};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(intervals[i].phase->name, names[i]);
    EXPECT_NEAR(intervals[i].ended - intervals[i].began, static_cast<double>(i) + 1, 1e-5);
  }
}

TEST(Phases, AreRecordedOnceAndOnlyForStepsThatBeginAPhase) {
  io::Record record;
  begin_phase(record, "no step", 5);
  EXPECT_TRUE(intervals_of(record).empty());
  begin_phase(record, "store", 6);
  begin_phase(record, "store", 7);
  EXPECT_EQ(record.store_began, 6);
}

TEST(Phases, AreUnknownForOlderRecordsAndAfterAClockChange) {
  io::Record record = measured();
  record.end_time = "";
  EXPECT_TRUE(intervals_of(record).empty());
  record.end_time = "2026-03-01T11:59:00.000000Z";
  EXPECT_TRUE(intervals_of(record).empty());
  record = io::Record();
  record.end_time = start;
  EXPECT_TRUE(intervals_of(record).empty());
  EXPECT_TRUE(use_of_devices({&record}).empty());
}

TEST(DeviceUse, IsBusyDuringMeasurement) {
  const io::Record first = measured(), second = measured(20), on_cpu = measured(40, "");
  const auto uses = use_of_devices({&first, &second, &on_cpu});
  ASSERT_EQ(uses.size(), 1u) << "one rank";
  const DeviceUse& use = uses[0];
  EXPECT_EQ(use.device, "a GPU");
  EXPECT_EQ(use.trials, 3);
  EXPECT_NEAR(use.span, 50, 1e-5);
  EXPECT_NEAR(use.busy(), 14.0 / 50, 1e-6) << "timed and judged, twice";
  EXPECT_NEAR(use.cpu_methods, 7, 1e-5);
  EXPECT_EQ(use.idle_text(), "not recorded 40%, methods of the CPU 14%, inputs 12%, wait 6%");
  const Table table = device_use_table(uses);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].size(), table.columns.size());
}

TEST(DeviceUse, HasTheTimeOfTrialsThatTimedOut) {
  const io::Record first = measured();
  io::Record hung;
  hung.run_id = "run";
  hung.host = "host";
  hung.backend = "cuda";
  hung.gpu_name = "a GPU";
  hung.status = "timeout";
  hung.start_time = "2026-03-01T12:00:10Z";
  hung.end_time = "2026-03-01T12:00:40.000000Z";
  const auto uses = use_of_devices({&first, &hung});
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].trials, 2);
  EXPECT_NEAR(uses[0].span, 40, 1e-5);
  EXPECT_NEAR(uses[0].busy(), 7.0 / 40, 1e-6);
  EXPECT_EQ(uses[0].idle_text(), "timeouts and crashes 75%, inputs 5%, wait 2%");
  hung.gpu_name = "";
  EXPECT_EQ(use_of_devices({&first, &hung})[0].trials, 1) << "its rank ended, and a later start recorded it";
}

TEST(DeviceUse, DoesNotCountASecondTwiceIfSeveralTrialsCrashInIt) {
  const io::Record first = measured();
  std::vector<io::Record> crashed(3, first);
  for (std::size_t i = 0; i < crashed.size(); ++i) {
    crashed[i] = io::Record();
    crashed[i].run_id = "run";
    crashed[i].host = "host";
    crashed[i].status = "crashed";
    crashed[i].start_time = "2026-03-01T12:00:10Z";
    crashed[i].end_time = "2026-03-01T12:00:10." + std::to_string(3 * (i + 1)) + "00000Z";
  }
  // The order of the records need not be that of the trials.
  const auto uses = use_of_devices({&crashed[2], &first, &crashed[0], &crashed[1]});
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_NEAR(uses[0].span, 10.9, 1e-5);
  EXPECT_NEAR(uses[0].lost, 0.9, 1e-5);
}

TEST(DeviceUse, SeparatesRanksHostsAndRuns) {
  io::Record first = measured(0, ""), rank = first, host = first, run = first;
  rank.rank = 1;
  host.host = "another";
  run.run_id = "another";
  const auto uses = use_of_devices({&first, &rank, &host, &run, &first});
  ASSERT_EQ(uses.size(), 4u);
  EXPECT_EQ(uses[0].trials, 2);
  EXPECT_EQ(uses[0].device, "CPU");
  EXPECT_NEAR(uses[1].busy(), 0.7, 1e-6);
}

TEST(DeviceUse, TableNumbersTheRunsIfThereAreSeveral) {
  io::Record rank = measured(), other = measured();
  rank.rank = 1;
  other.run_id = "other";
  const auto rows = [](const std::vector<const io::Record*>& records) {
    std::string text;
    for (const auto& row : render_json(device_use_table(use_of_devices(records))))
      text += row["run"].dump() + " " + row["rank"].dump() + "; ";
    return text;
  };
  const io::Record first = measured();
  EXPECT_EQ(rows({&rank, &other, &first}), "1 0; 1 1; 2 0; ");
  EXPECT_EQ(rows({&rank, &first}), "null 0; null 1; ");
}

}  // namespace
}  // namespace gaussweep::driver
