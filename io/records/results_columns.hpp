#pragma once
/// The rows and columns of the tables of results.h5 other than /records (io/SCHEMA.md explains them). For the
/// .cpp files of `io/` only.

#include <vector>

#include "io/files/hdf5_table.hpp"
#include "io/records/rows.hpp"

namespace gaussweep::io {

/// A row of /samples. In all three tables, `trial` is the row number of the trial in /records.
struct SampleRow {
  std::int64_t trial = 0, index = 0;
  double seconds = Record::unknown, clock = Record::unknown;
  std::int64_t throttled = 0;
  double memory_clock = Record::unknown, power = Record::unknown, temperature = Record::unknown;
};
/// A row of /stages.
struct StageRow {
  std::int64_t trial = 0;
  Text kernel;
  std::int64_t calls = 0;
  double seconds = Record::unknown, mean = Record::unknown, occupancy = Record::unknown,
         share = Record::unknown;
};
/// A row of /iterations.
struct IterationRow {
  std::int64_t trial = 0, iteration = 0;
  double residual = Record::unknown;
};

const std::vector<h5::Column<SampleRow>>& sample_columns();
const std::vector<h5::Column<StageRow>>& stage_columns();
const std::vector<h5::Column<IterationRow>>& iteration_columns();
const std::vector<h5::Column<DeviceRow>>& device_columns();
const std::vector<h5::Column<HostRow>>& host_columns();

/// Call visit(row) for all rows of the table /samples, /stages or /iterations, in order.
template <class Visit>
void each_sample(const std::vector<Record>& records, const Visit& visit) {
  for (std::size_t r = 0; r < records.size(); ++r) {
    std::int64_t index = 0;
    for (const Sample& sample : records[r].sample_list) {
      visit(SampleRow{static_cast<std::int64_t>(r), index++, sample.seconds, sample.clock_mhz,
                      sample.throttled ? 1 : 0, sample.memory_clock_mhz, sample.power_w,
                      sample.temperature_c});
    }
  }
}
template <class Visit>
void each_stage(const std::vector<Record>& records, const Visit& visit) {
  for (std::size_t r = 0; r < records.size(); ++r) {
    for (const Stage& stage : records[r].stages) {
      visit(StageRow{static_cast<std::int64_t>(r), stage.kernel, stage.calls, stage.seconds, stage.mean,
                     stage.occupancy, stage.share});
    }
  }
}
template <class Visit>
void each_iteration(const std::vector<Record>& records, const Visit& visit) {
  for (std::size_t r = 0; r < records.size(); ++r) {
    std::int64_t iteration = 0;
    for (const double residual : records[r].history)
      visit(IterationRow{static_cast<std::int64_t>(r), iteration++, residual});
  }
}

/// The rows of these three tables.
struct DetailRows {
  std::vector<SampleRow> samples;
  std::vector<StageRow> stages;
  std::vector<IterationRow> iterations;
};
DetailRows details_of(const std::vector<Record>& records);

/// Moves the rows, which are in order of trial and index, to their records.
/// @throws h5::Error if a row's trial does not exist
void take_details(std::vector<Record>& records, DetailRows rows);

}  // namespace gaussweep::io
